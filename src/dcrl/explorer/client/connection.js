// Whether the server can be reached. When it cannot, a notice says how to start it again, and what needs it is off.

import { make } from "dcrl-explorer/dom.js";

const NEEDING = ".dcrl-modes, .dcrl-run, .dcrl-files"; // what only the server can answer
const framework = () => document.getElementById("popup"); // the framework's own notice, which the page hides
const listeners = new Set(); // {changed(), missed()}
let missed = null; // what to do once the server is back

export const isLost = () => framework()?.getAttribute("aria-hidden") === "false";

/** `listener.changed()` is called when the server is lost or back, `listener.missed()` when a choice cannot be played. */
export function onConnection(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Call `send` now, or when the server is back; of several that wait, only the last. */
export function sendWhenConnected(send) {
  if (!isLost()) return send();
  missed = send;
  for (const listener of listeners) listener.missed();
}

/** Show the notice while the server is lost; `command` starts it again. */
export function watchConnection(command) {
  const notice = make("div", "dcrl-lost");
  notice.setAttribute("role", "alert");
  notice.append(
    make("b", "", "The server is not responding. "),
    "Restart it, and this page will reload automatically: ",
    make("code", "", command),
  );
  const look = () => {
    const lost = isLost();
    if (lost) document.querySelector(".dcrl-page")?.before(notice);
    else notice.remove();
    for (const element of document.querySelectorAll(NEEDING)) element.inert = lost;
    for (const listener of listeners) listener.changed();
    if (lost) return;
    const send = missed;
    missed = null;
    send?.();
  };
  new MutationObserver(look).observe(framework(), { attributeFilter: ["aria-hidden"] });
}
