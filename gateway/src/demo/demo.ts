import { rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { ownCredentials } from "manyhands/internal/config/agents/credentials";
import type { Config } from "manyhands/internal/config/config";
import { ownCommand } from "manyhands/internal/core/release";
import type { CliContext } from "../session/context.ts";
import { isUp } from "../session/is-up.ts";
import { startSystem } from "../session/system-session.ts";
import { urlOf } from "../supervisor/server-table.ts";
import type { AgentClient, FileSource, OutgoingFile } from "../tasks/agent-client.ts";
import { type SavedFile, saveFiles } from "../tasks/save-files.ts";
import { factsText } from "../terminal/agent-line.ts";
import { exitCodeOf, exitCodes } from "../terminal/exit-code.ts";
import { summaryText } from "../terminal/render.ts";
import { renderTask, type TaskOutcome } from "../terminal/render-task.ts";
import { safeText } from "../terminal/safe-text.ts";
import { paint } from "../terminal/style.ts";
import { checkResults, type ResultCheck } from "./check-results.ts";
import { type Abilities, demoTask, readAbilities } from "./demo-task.ts";
import { type RegistrationSite, startRegistrationSite } from "./registration-site.ts";
import { type ProjectFiles, packProject, readShippingProject } from "./shipping-project.ts";

const headLines = 14;
const waitForFilesMs = 60_000;

/**
 * The demo: starts the whole system and a small web site, gives the planning flow a task for all
 * agents, shows the plan and the work, checks the results itself, saves them in `manyhands-demo/`
 * and stops. Exit code 0 only if every result is right.
 */
export async function demoCommand(options: { readonly config?: string }, context: CliContext): Promise<number> {
  const { terminal } = context;
  const config = await context.configure(options.config);
  for (const note of config.notes) terminal.say(note);
  const site = startRegistrationSite();
  try {
    terminal.say("Starting the agents and the gateway …");
    const own = await withOwnHome(config);
    const names = Object.keys(own.agents);
    const reachable = { ...context, env: reaching(site.host, own, context.env) };
    const session = await startSystem(own, reachable, { names, needed: names });
    try {
      const credentials = ownCredentials(config.server);
      const abilities = await readAbilities(session.url, credentials);
      const client = await context.connect(`${session.url}/a2a/planning`, credentials);
      terminal.say([factsText(client.facts), ...leftOut(abilities)].join("\n"));
      return await carryOut(client, { abilities, site, config: own }, context);
    } finally {
      await session.close();
    }
  } finally {
    await site.close();
  }
}

type Scene = { readonly abilities: Abilities; readonly site: RegistrationSite; readonly config: Config };

async function carryOut(client: AgentClient, scene: Scene, context: CliContext): Promise<number> {
  const { terminal, root } = context;
  const csv = await Bun.file(join(root, "gateway/demo/orders.csv")).text();
  const project = await readShippingProject(root);
  const text = demoTask(scene.abilities, scene.site.url);
  terminal.out(`\n${text}\n\n`);
  const message = { text, files: await filesFor(scene.abilities, csv, project) };
  const outcome = await renderTask((signal) => client.send(message, { signal }), { client, terminal, json: false });
  terminal.out(`\n${summaryText(outcome.view)}\n`);
  if (outcome.state !== "completed") {
    terminal.out(`${paint(terminal.style, "red", `✗ ${outcome.state}`)} ${safeText(outcome.text)}\n`);
    return exitCodeOf(outcome.state) || exitCodes.failed;
  }
  const files = await keepResults(outcome, client, context);
  const { registrations } = scene.site;
  const checks = await checkResults(files, { ...scene, csv, project, registrations });
  terminal.out(checks.map((check) => checkLine(check, context)).join(""));
  await showReport(files, context);
  return checks.every(({ isRight }) => isRight) ? exitCodes.ok : exitCodes.failed;
}

async function filesFor({ runsCode }: Abilities, csv: string, project: ProjectFiles): Promise<OutgoingFile[]> {
  const orders = { name: "orders.csv", mediaType: "text/csv", bytes: new TextEncoder().encode(csv) };
  if (!runsCode) return [orders];
  return [orders, { name: "shipping.tar.gz", mediaType: "application/gzip", bytes: await packProject(project) }];
}

/**
 * The settings, with a separate home if a system is already running: servers that share a home take
 * each other's runs, and only ours can reach the site.
 */
async function withOwnHome(config: Config): Promise<Config> {
  const others = await isUp(urlOf({ name: "gateway" }, config), config);
  return others ? { ...config, home: join(config.home, "demo") } : config;
}

/** The environment that allows tools to reach the site on this machine. */
function reaching(host: string, { egress }: Config, env: CliContext["env"]): CliContext["env"] {
  return {
    ...env,
    MANYHANDS_EGRESS_ALLOW: [...egress.allow, host].join(","),
    ...(egress.only.length > 0 && { MANYHANDS_EGRESS_ONLY: [...egress.only, host].join(",") }),
  };
}

function leftOut({ runsCode, operatesPages }: Abilities): string[] {
  const how = `${ownCommand} doctor says why`;
  return [
    ...(runsCode ? [] : [`Skipped: fixing a Python project. SWE cannot run its tests here; ${how}.`]),
    ...(operatesPages ? [] : [`Skipped: filling in a form. No agent can operate web pages here; ${how}.`]),
  ];
}

async function keepResults(outcome: TaskOutcome, source: FileSource, { cwd }: CliContext): Promise<SavedFile[]> {
  const folder = join(cwd, "manyhands-demo");
  await rm(folder, { recursive: true, force: true });
  return saveFiles(outcome.artifacts, folder, source, { signal: AbortSignal.timeout(waitForFilesMs) });
}

function checkLine({ isRight, text }: ResultCheck, { terminal: { style } }: CliContext): string {
  return `${isRight ? paint(style, "green", "✓") : paint(style, "red", "✗")} ${safeText(text)}\n`;
}

async function showReport(files: readonly SavedFile[], { terminal, cwd }: CliContext): Promise<void> {
  const report = files.find(({ path }) => path.endsWith("/report.md"));
  if (report === undefined) return;
  const lines = safeText(await Bun.file(report.path).text())
    .trimEnd()
    .split("\n");
  const more = lines.length > headLines ? [`  │ … ${lines.length - headLines} more lines`] : [];
  const shown = [...lines.slice(0, headLines).map((line) => `  │ ${line}`), ...more];
  const others = files.map(({ path }) => relative(cwd, path)).filter((path) => !path.endsWith("/report.md"));
  terminal.out(`\n${relative(cwd, report.path)}\n${shown.join("\n")}\n${others.map((path) => `${path}\n`).join("")}`);
}
