// The player as a NiceGUI element: `motions` is the JSON text of a list of motions, `hint` a sentence over the picture.

export default {
  template: "<div></div>",
  props: { motions: String, hint: String },
  async mounted() {
    const { createPlayer } = await import("dcrl-explorer/player.js"); // after the map is there: it brings three.js
    if (this.gone) return;
    this.player = createPlayer(this.$el);
    if (this.motions) this.player.show(JSON.parse(this.motions));
    this.player.say(this.hint ?? "");
  },
  beforeUnmount() {
    this.gone = true;
    this.player?.dispose();
  },
  watch: {
    motions(text) {
      this.player?.show(JSON.parse(text));
      this.player?.say(this.hint ?? "");
    },
    hint(sentence) {
      this.player?.say(sentence ?? "");
    },
  },
};
