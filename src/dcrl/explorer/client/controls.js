// The bar below the picture: play, time in the episode, speed, and the camera's buttons.

import { make } from "dcrl-explorer/dom.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

/** Fill `bar`; `toggle()`, `seek(step)`, `home()` and `moved()` are called when people use it. */
export function createControls(bar, { toggle, seek, home, moved }) {
  const play = button("▶", "play or pause (space)", toggle);
  const back = button("⌂", "reset the camera", home);
  const scrub = make("input", "dcrl-scrub");
  const speed = make("select", "dcrl-speed");
  const follow = make("label", "dcrl-follow");
  const following = make("input");
  play.classList.add("dcrl-play");
  Object.assign(scrub, { type: "range", min: 0, max: 1, step: 1, value: 0 });
  Object.assign(following, { type: "checkbox", checked: true });
  scrub.setAttribute("aria-label", "time in the episode");
  speed.setAttribute("aria-label", "speed");
  for (const value of SPEEDS) {
    const option = make("option", "", `${value}×`);
    option.value = value;
    speed.append(option);
  }
  speed.value = 1;
  follow.append(following, " follow");
  bar.append(play, scrub, speed, follow, back);
  scrub.oninput = () => seek(Number(scrub.value));
  following.onchange = moved;

  return {
    get speed() {
      return Number(speed.value);
    },
    get following() {
      return following.checked;
    },
    /** Show how far it is, in steps. */
    update(time, playing) {
      play.textContent = playing ? "❚❚" : "▶";
      scrub.value = Math.floor(time);
    },
    /** Fit the bar to motions of `end` steps: without any there is nothing to play, without poses no camera. */
    fit(end, camera) {
      scrub.max = end;
      bar.hidden = !end;
      follow.hidden = back.hidden = !camera;
    },
  };
}

function button(sign, title, action) {
  const made = make("button", "", sign);
  Object.assign(made, { type: "button", title, onclick: action });
  made.setAttribute("aria-label", title);
  return made;
}
