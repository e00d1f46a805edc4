import { finish, type Script } from "../script.ts";

const task = "Name one advantage of working this way, in one sentence.";

const answers = [
  ["sql_query", "Whoever knows data looks at the data, and nobody waits for anybody."],
  ["run_tests", "Each works in a workspace of its own, so that no change gets in another's way."],
] as const;

/** The example of the parallel flow: agents are distinguished by their tools. */
export const advantage: Script = {
  title: `${task} (flow parallel)`,
  task,
  play(scene) {
    const own = answers.find(([tool]) => scene.tools.has(tool))?.[1];
    const answer = own ?? "The answer is there as soon as enough of the others have come to theirs.";
    return finish(scene, "success", `${answer} (The rehearsal model, a script.)`, "Done.");
  },
};
