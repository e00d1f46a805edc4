import { element, fill } from "./element.js";

/** Characters kept in view per speaker; the stored event brings the whole text. */
const mostCharacters = 4_000;
const titles = {
  "text-delta": "Answer",
  "reasoning-delta": "Reasoning",
  "tool-output": "Tool output",
  "notice-given": "Note",
};

/**
 * Live output that is not stored yet: the model's words, a tool's output, another agent's. `clear`
 * empties it once an event has stored the text.
 *
 * @returns {{ root: HTMLElement, add(progress: object): void, clear(): void }}
 */
export function liveView() {
  const speakers = new Map();
  const root = element("section", { class: "live", hidden: true, "aria-label": "Live" });
  const clear = () => {
    speakers.clear();
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
      let speaker = speakers.get(title);
      if (speaker === undefined) {
        speaker = { text: "", pre: element("pre") };
        speakers.set(title, speaker);
        root.append(element("h4", {}, title), speaker.pre);
      }
      speaker.text = (speaker.text + progress.text).slice(-mostCharacters);
      fill(speaker.pre, speaker.text);
      root.hidden = false;
    },
  };
}
