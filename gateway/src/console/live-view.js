import { element, fill } from "./element.js";

/** Characters of each voice that stay in view; the whole comes with the event that is stored. */
const mostCharacters = 4_000;
const titles = {
  "text-delta": "answers",
  "reasoning-delta": "thinks",
  "tool-output": "a tool says",
  "notice-given": "note",
};

/**
 * What is being said right now and not stored: the model's words, a tool's output, an asked
 * agent's. `clear` empties it once what was said is told by an event.
 *
 * @returns {{ root: HTMLElement, add(progress: object): void, clear(): void }}
 */
export function liveView() {
  const voices = new Map();
  const root = element("section", { class: "live", hidden: true, "aria-label": "Live" });
  const clear = () => {
    voices.clear();
    fill(root);
    root.hidden = true;
  };
  return {
    root,
    clear,
    add(progress) {
      if (progress.type === "deltas-void") return clear();
      if (typeof progress.text !== "string") return;
      const title = progress.agent ?? titles[progress.type] ?? progress.type;
      let voice = voices.get(title);
      if (voice === undefined) {
        voice = { text: "", pre: element("pre") };
        voices.set(title, voice);
        root.append(element("h4", {}, title), voice.pre);
      }
      voice.text = (voice.text + progress.text).slice(-mostCharacters);
      fill(voice.pre, voice.text);
      root.hidden = false;
    },
  };
}
