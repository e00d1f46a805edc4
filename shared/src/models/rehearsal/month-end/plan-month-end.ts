import { stepReports } from "../flow-messages.ts";
import { decision, type Script, words } from "../script.ts";
import { notDone } from "./check-month-end.ts";
import { addressIn, monthEndGoal, monthEndSteps } from "./month-end-steps.ts";

type Part = {
  readonly id: string;
  readonly name: string;
  readonly agent: string;
  readonly text: string;
  readonly expected: string;
  readonly delivers: readonly string[];
  /** Whether the task asks for it. */
  isAsked(task: string): boolean;
};

const parts: readonly Part[] = [
  {
    id: "analyse",
    name: "the analysis",
    agent: "data-analysis",
    text: monthEndSteps.analyse,
    expected: "figures that two ways of computing agree on, in figures.json too, and a PNG chart",
    delivers: ["figures.json"],
    isAsked: (task) => task.includes("orders.csv"),
  },
  {
    id: "repair",
    name: "the repair",
    agent: "swe",
    text: monthEndSteps.repair,
    expected: "all tests pass, and changes.patch shows the change",
    delivers: ["changes.patch"],
    isAsked: (task) => task.includes("shipping.tar.gz"),
  },
  {
    id: "register",
    name: "the registration",
    agent: "browser",
    text: monthEndSteps.register,
    expected: "a registration number, and a picture of the page that shows it",
    delivers: ["receipt.png", "the registration number"],
    isAsked: (task) => addressIn(task) !== undefined,
  },
];

/**
 * The plan for the demo's task: the requested parts in parallel, each by the agent that can do it,
 * then the report.
 */
export const planMonthEnd: Script = {
  task: `The task: ${monthEndGoal}`,
  decides: "planning",
  play({ text }) {
    const [agents = "", task = ""] = text.split("\n\nThe task:\n");
    if (task.includes("What came of the plan so far:")) {
      const reason = "The rehearsal model knows one way to do each step, and that has not worked.";
      return decision("planning", { command: "update", verdict: "impossible", reason, steps: [] });
    }
    const asked = parts.filter((part) => part.isAsked(task));
    const done = asked.filter(({ agent }) => isAble(agents, agent));
    const left = asked.filter((part) => !done.includes(part)).map(({ name }) => name);
    const without = left.length === 0 ? "" : `, without ${left.join(" and ")}: no agent here can do that`;
    const steps = done.map(({ id, agent, text, expected, delivers }) => ({
      ...{ id, agent, text, expected, delivers },
      depends_on: [],
    }));
    const report = {
      id: "report",
      agent: "manus",
      text: monthEndSteps.report,
      depends_on: done.map(({ id }) => id),
      expected: "report.md with the figures and what came of the other steps",
      delivers: ["report.md"],
    };
    return decision("planning", {
      command: "create",
      title: `Month-end handover${without}`,
      steps: [...steps, report],
    });
  },
};

/** Whether the agent exists, and its description does not say that it lacks its main ability. */
function isAble(agents: string, name: string): boolean {
  return new RegExp(`^- ${name}: (?!Cannot)`, "m").test(agents);
}

/** Each part that the demo's task asks for needs a completed step. */
function missingParts(text: string) {
  const [task = ""] = text.split("\n\nWhat came of the steps:");
  const done = new Set(stepReports(text).flatMap(({ agent, outcome }) => (outcome === "completed" ? [agent] : [])));
  const left = parts.filter((part) => part.isAsked(task) && !done.has(part.agent));
  return left.map(({ name, agent }) => ({ what: name, reason: `No step of ${agent} completed.` }));
}

/**
 * The end of the demo's task: what its steps did not do, or the answer, with each agent's findings
 * in its own words.
 */
export const answerMonthEnd: Script = {
  title: `${monthEndGoal} … (the demo, by the planning flow)`,
  task: `The task: ${monthEndGoal}`,
  play({ text, tools }) {
    const found = { not_done: notDone(text), missing: missingParts(text) };
    if (tools.has("check_task") && found.not_done.length + found.missing.length > 0)
      return decision("check_task", found);
    const reports = stepReports(text);
    const lines = reports.map(({ agent, outcome, step, text: report, files, reason }) => {
      if (outcome !== "completed") return `- ${agent}: not done (${step}): ${reason}`;
      const [first = ""] = report.split("\n");
      return `- ${agent}: ${first}${files.length === 0 ? "" : ` Files: ${files.join(", ")}.`}`;
    });
    const done = reports.every(({ outcome }) => outcome === "completed");
    const head = done ? "Everything that was planned is done." : "Not everything is done.";
    return words(`${head} This was the rehearsal model, a script, not a language model.\n${lines.join("\n")}`);
  },
};
