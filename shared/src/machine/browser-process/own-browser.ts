import { lstat, readlink, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { BrowserContext } from "playwright";
import { AppError, unlessMissing } from "../../core/errors.ts";
import type { ProxyUser, TellRequest } from "../egress/proxy-access.ts";
import { isThere } from "../kernel/process-table.ts";
import { type SandboxUser, unprivilegedUser } from "../process/step-down.ts";

/** The context of the user's own browser, with its log-ins, which conversations share by tabs. */
export type OwnContext = {
  readonly context: BrowserContext;
  /**
   * Who is told of the requests that reached the proxy. Undefined for a browser that somebody else
   * started: its requests do not pass the proxy, and its other tabs are left alone entirely.
   */
  readonly listeners: Set<TellRequest> | undefined;
};

/** What a browser is started with so that it uses the user's own data. */
export type OwnStart = {
  readonly folder: string;
  readonly access: ProxyUser;
  readonly listeners: Set<TellRequest>;
};

/**
 * The user that a browser with this folder runs as, if not our own. Rejects with `config_invalid`
 * when there is no such folder or only root could use it, and with `unavailable` when another
 * browser is using it.
 */
export async function ownerOf(folder: string): Promise<SandboxUser | undefined> {
  const found = await stat(folder).catch(unlessMissing);
  if (found?.isDirectory() !== true)
    throw new AppError("config_invalid", `browser.user_data_dir is ${folder}, which is not a folder. Create it first.`);
  const lock = join(folder, "SingletonLock");
  if (await isHeld(lock))
    throw new AppError(
      "unavailable",
      `Another browser is using ${folder}. Close it, or start it with --remote-debugging-port and set browser.cdp_url instead.`,
    );
  if (unprivilegedUser() === undefined) return undefined;
  if (found.uid !== 0) return { uid: found.uid, gid: found.gid };
  throw new AppError(
    "config_invalid",
    `browser.user_data_dir (${folder}) belongs to root, and a browser does not run as root: give it to another user (chown).`,
  );
}

/** A browser's lock is a link that names its machine and process. */
async function isHeld(lock: string): Promise<boolean> {
  if ((await lstat(lock).catch(unlessMissing)) === undefined) return false;
  const [, machine, pid] = /^(.*)-(\d+)$/.exec(await readlink(lock).catch(() => "")) ?? [];
  return machine === hostname() && isThere(Number(pid));
}

/** Playwright closes dialogs that nobody listens to, which would answer for the user. */
export function leaveDialogs(context: BrowserContext): void {
  context.on("dialog", () => undefined);
}
