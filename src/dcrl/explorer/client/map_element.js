// The map as a NiceGUI element: `archive` is the JSON text of an archive that follows the first; emits `pick`.

import { sendWhenConnected, watchConnection } from "dcrl-explorer/connection.js";
import { takeMap } from "dcrl-explorer/first.js";

export default {
  template: "<div></div>",
  props: { archive: String, aim: Boolean, pinned: Number, command: String },
  mounted() {
    this.map = takeMap(this.$el, (choice) => sendWhenConnected(() => this.$emit("pick", choice)));
    this.map.aim(this.aim);
    if (this.archive) this.map.show(JSON.parse(this.archive));
    watchConnection(this.command);
  },
  watch: {
    aim(on) {
      this.map.aim(on);
    },
    pinned(cell) {
      this.map.pin(cell ?? null);
    },
    archive(text) {
      this.map.show(JSON.parse(text));
    },
  },
};
