import { type Script, words } from "../script.ts";
import { handoverGoal } from "./handover-steps.ts";
import { stepReports } from "./step-reports.ts";

/** The answer to the demo's task: what each agent found in its own words, and what was not done. */
export const answerHandover: Script = {
  title: `${handoverGoal} … (the demo, by the planning flow)`,
  task: `The task: ${handoverGoal}`,
  play({ text }) {
    const reports = stepReports(text);
    const lines = reports.map(({ agent, outcome, step, text: report, files, reason }) => {
      if (outcome !== "completed") return `- ${agent}: not done (${step}): ${reason}`;
      const [first = ""] = report.split("\n");
      return `- ${agent}: ${first}${files.length === 0 ? "" : ` Files: ${files.join(", ")}.`}`;
    });
    const done = reports.every(({ outcome }) => outcome === "completed");
    const head = done ? "Everything that was planned is done." : "Not everything is done.";
    return words(`${head} This was the rehearsal model, a script and no language model.\n${lines.join("\n")}`);
  },
};
