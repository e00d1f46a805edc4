import { constants } from "node:fs";
import { access, mkdir, statfs } from "node:fs/promises";
import type { Config } from "manyhands/internal/config/config";
import { messageOf } from "manyhands/internal/core/errors";
import { openLocalUsers } from "manyhands/internal/server/access";
import type { CliContext } from "../session/context.ts";
import { whoAnswers } from "../session/is-up.ts";
import { findProgram } from "../setup/find.ts";
import { installCommand } from "../setup/packages.ts";
import { desktopPrograms, programs } from "../setup/programs.ts";
import { isPortFree } from "../supervisor/port.ts";
import { agentEntries, gatewayEntry, portOf, urlOf } from "../supervisor/server-table.ts";
import { exitCodes } from "../terminal/exit-code.ts";
import { paint } from "../terminal/style.ts";
import { checkStarts } from "./check-starts.ts";
import type { DoctorCheck } from "./checks.ts";
import { checkBrowser, checkBucket, checkEngine, checkModel, checkSandbox } from "./checks.ts";

/**
 * Checks everything the system needs and says how to fix what is missing. Exit code 1 when
 * something must be fixed.
 */
export async function doctorCommand(
  options: { readonly config?: string; readonly json?: boolean },
  context: CliContext,
): Promise<number> {
  const config = await context.configure(options.config);
  const checks = [
    checkBun(),
    await checkModel(config.model),
    await checkEngine(config),
    ...(await checkBucket(config)),
    ...(await checkSandbox(config)),
    await checkBrowser(config),
    ...checkPrograms(config),
    ...(await checkPorts(config, context.root)),
    await checkHome(config.home),
    await checkLocalUsers(config.server),
    ...checkStarts(config.triggers, urlOf(gatewayEntry(context.root), config), new Date()),
    ...config.notes.map((text): DoctorCheck => ({ name: "settings", state: "warn", text })),
  ];
  const { out, style } = context.terminal;
  const colors = { ok: "green", warn: "yellow", fail: "red" } as const;
  if (options.json) out(`${JSON.stringify(checks, undefined, 2)}\n`);
  else
    for (const { name, state, text } of checks)
      out(`${paint(style, colors[state], state.padEnd(4))}  ${name.padEnd(12)}  ${text}\n`);
  return checks.some(({ state }) => state === "fail") ? exitCodes.failed : exitCodes.ok;
}

function checkBun(): DoctorCheck {
  const good = Bun.semver.satisfies(Bun.version, ">=1.4.4");
  return {
    name: "bun",
    state: good ? "ok" : "fail",
    text: good ? Bun.version : `${Bun.version}; 1.4.4 or newer is needed`,
  };
}

function checkPrograms({ desktop }: Config): DoctorCheck[] {
  const wanted = [...programs, ...(desktop.enabled ? desktopPrograms : [])];
  const here = wanted.filter(({ platforms }) => platforms.includes(process.platform));
  return here.map((program): DoctorCheck => {
    const path = findProgram(program);
    if (path !== undefined) return { name: program.name, state: "ok", text: path };
    const command = installCommand([program]);
    const how = command === undefined ? "" : ` To install it: ${command}`;
    return { name: program.name, state: "warn", text: `missing: ${program.without}.${how}` };
  });
}

async function checkPorts(config: Config, root: string): Promise<DoctorCheck[]> {
  return Promise.all(
    [...agentEntries(config), gatewayEntry(root)].map(async (entry): Promise<DoctorCheck> => {
      const { name, portEnv } = entry;
      const port = portOf(entry, config);
      const url = urlOf(entry, config);
      const label = `port ${port}`;
      if (isPortFree(config.server.host, port)) return { name: label, state: "ok", text: `free for ${name}` };
      const found = await whoAnswers(url, config).catch(() => "nobody");
      if (found === "ours") return { name: label, state: "ok", text: `${name} is up at ${url}` };
      if (found === "another home")
        return { name: label, state: "fail", text: `in use by a server of another home. Stop it or set ${portEnv}.` };
      return {
        name: label,
        state: "fail",
        text: `in use by a program that does not answer as ${name}. Stop it or set ${portEnv}.`,
      };
    }),
  );
}

/** Whether servers without a token refuse other accounts of this machine. */
async function checkLocalUsers(server: Config["server"]): Promise<DoctorCheck> {
  const { note } = await openLocalUsers(server);
  if (note !== undefined) return { name: "local users", state: "warn", text: note };
  const { token, tls } = server;
  const guarded = token === undefined ? undefined : "every request needs the token";
  const mutual = tls?.clientCa === undefined ? undefined : "every connection needs a client certificate";
  const text = guarded ?? mutual ?? "without a token, only you and root have access";
  return { name: "local users", state: "ok", text };
}

/** The home keeps runs, files and logs: it must be writable and have room. */
async function checkHome(home: string): Promise<DoctorCheck> {
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await access(home, constants.W_OK);
    const { bavail, bsize } = await statfs(home);
    const gigabytes = (bavail * bsize) / 1e9;
    const text = `${home}, ${gigabytes.toFixed(1)} GB free`;
    if (gigabytes >= 1) return { name: "home", state: "ok", text };
    return {
      name: "home",
      state: gigabytes < 0.1 ? "fail" : "warn",
      text: `${text}. Free some space or set MANYHANDS_HOME.`,
    };
  } catch (error) {
    const why = messageOf(error);
    return { name: "home", state: "fail", text: `${home} is not writable (${why}). Fix it or set MANYHANDS_HOME.` };
  }
}
