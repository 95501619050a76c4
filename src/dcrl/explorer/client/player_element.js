// The player as a NiceGUI element: `motions` is the JSON text of a list of motions, `hint` a sentence over the picture.
// Emits `download`. Without a server it plays what it has, and nothing that is chosen on the map.

import { isLost, onConnection } from "dcrl-explorer/connection.js";

const LOST = "The server is not responding, so nothing new can be played.";

export default {
  template: "<div></div>",
  props: { motions: String, hint: String },
  async mounted() {
    const { createPlayer } = await import("dcrl-explorer/player.js"); // after the map is there: it brings three.js
    if (this.gone) return;
    this.player = createPlayer(this.$el, (wanted) => this.$emit("download", wanted));
    this.refresh();
    this.unlisten = onConnection({
      changed: () => this.say(),
      missed: () => {
        this.player.show([]);
        this.player.say(LOST);
      },
    });
  },
  beforeUnmount() {
    this.gone = true;
    this.unlisten?.();
    this.player?.dispose();
  },
  methods: {
    refresh() {
      if (this.motions) this.player?.show(JSON.parse(this.motions));
      this.say();
    },
    say() {
      this.player?.say(isLost() && this.hint ? LOST : (this.hint ?? ""));
    },
  },
  watch: {
    motions() {
      this.refresh();
    },
    hint() {
      this.say();
    },
  },
};
