// The map as a NiceGUI element: `archive` is the JSON text of an archive that follows the first; emits `pick`.

import { takeMap } from "dcrl-explorer/first.js";

export default {
  template: "<div></div>",
  props: { archive: String, aim: Boolean },
  mounted() {
    this.map = takeMap(this.$el, (choice) => this.$emit("pick", choice));
    this.map.aim(this.aim);
    if (this.archive) this.map.show(JSON.parse(this.archive));
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
