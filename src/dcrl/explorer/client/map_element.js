// The map as a NiceGUI element: `archive` is the JSON text of an archive; emits `pick`.

import { createMap } from "dcrl-explorer/map.js";

export default {
  template: "<div></div>",
  props: { archive: String, aim: Boolean },
  mounted() {
    this.map = createMap(this.$el, (choice) => this.$emit("pick", choice));
    this.map.aim(this.aim);
    if (this.archive) this.map.show(JSON.parse(this.archive));
  },
  beforeUnmount() {
    this.map.dispose();
  },
  watch: {
    aim(on) {
      this.map.aim(on);
    },
    archive(text) {
      this.map.show(JSON.parse(text));
    },
  },
};
