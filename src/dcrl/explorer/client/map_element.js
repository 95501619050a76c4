// The map as a NiceGUI element: `archive` is the JSON text of an archive; emits `pick`.

import { createMap } from "dcrl-explorer/map.js";

export default {
  template: "<div></div>",
  props: { archive: String },
  mounted() {
    this.map = createMap(this.$el, (choice) => this.$emit("pick", choice));
    if (this.archive) this.map.show(JSON.parse(this.archive));
  },
  beforeUnmount() {
    this.map.dispose();
  },
  watch: {
    archive(text) {
      this.map.show(JSON.parse(text));
    },
  },
  methods: {
    select(choice) {
      this.map.select(choice);
    },
  },
};
