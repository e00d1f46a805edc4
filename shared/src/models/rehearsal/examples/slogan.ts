import { decision, finish, type Script } from "../script.ts";

const task = "Write a slogan for a bakery, at most five words long.";
const maxWords = 5;
const first = "Bread like your grandmother baked it every morning";
const second = "Warm bread, every single morning";

/**
 * The example of the loop flow: a slogan that is too long, a check that counts its words, and a
 * shorter one.
 */
export const slogan: readonly Script[] = [
  {
    title: `${task} (flow loop)`,
    task,
    play: (scene) => finish(scene, "success", scene.text.includes("words are too many") ? second : first, "Done."),
  },
  {
    task: `The task: ${task}`,
    decides: "check_work",
    play({ text }) {
      const written = /<report>\n([\s\S]*?)\n<\/report>/.exec(text)?.[1]?.trim() ?? "";
      const count = written.split(/\s+/).filter(Boolean).length;
      const passed = count > 0 && count <= maxWords;
      const feedback = passed
        ? `"${written}" has ${count} words.`
        : `"${written}" has ${count} words, and ${count} words are too many: at most ${maxWords}.`;
      return decision("check_work", {
        passed,
        feedback,
        score: passed ? 1 : Math.min(0.9, maxWords / Math.max(count, 1)),
      });
    },
  },
];
