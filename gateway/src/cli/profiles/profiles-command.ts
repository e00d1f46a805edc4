import { AppError } from "manyhands/internal/core/errors";
import type { ProfileStore } from "manyhands/internal/machine/browser-profile/profile-store";
import { openProfiles } from "manyhands/internal/server/storage/open-profiles";
import { openShared } from "manyhands/internal/server/storage/open-shared";
import type { CliContext } from "../../session/context.ts";
import { exitCodes } from "../../terminal/exit-code.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import { paint } from "../../terminal/style.ts";

type Options = { readonly principal: string; readonly config?: string; readonly json?: boolean };

/** Lists a principal's profiles, without what is in them. */
export async function listProfiles(options: Options, context: CliContext): Promise<number> {
  const { terminal } = context;
  const all = await withProfiles(options, context, (profiles) => profiles.list(options.principal));
  const told = all.map(({ savedAt, ...rest }) => ({
    ...rest,
    ...(savedAt !== undefined && { savedAt: new Date(savedAt).toISOString() }),
  }));
  if (options.json) terminal.out(`${JSON.stringify(told, undefined, 2)}\n`);
  else
    for (const { name, savedAt = "never", sites, inUse, problem } of told) {
      const about = problem ?? (sites.length === 0 ? "nothing kept yet" : sites.join(", "));
      const facts = ["saved", savedAt, ...(inUse ? ["in use"] : [])].join(" ");
      terminal.out(`${paint(terminal.style, "bold", name)}  ·  ${facts}  ·  ${safeLine(about, 300)}\n`);
    }
  if (all.length === 0) terminal.say('No browser profile is kept. [browser] profile = "main" keeps log-ins.');
  return exitCodes.ok;
}

/** Deletes a profile. */
export async function deleteProfile(name: string, options: Options, context: CliContext): Promise<number> {
  const was = await withProfiles(options, context, (profiles) => profiles.remove(options.principal, name));
  if (!was) throw new AppError("not_found", `${options.principal} has no browser profile ${safeLine(name, 60)}.`);
  context.terminal.say(`Deleted ${name}: its log-ins are gone from here. The sites may still know the sessions.`);
  return exitCodes.ok;
}

async function withProfiles<T>(
  { config: file }: Options,
  context: CliContext,
  act: (profiles: ProfileStore) => Promise<T>,
): Promise<T> {
  const shared = await openShared(await context.configure(file));
  try {
    return await act(openProfiles(shared.profiles));
  } finally {
    await shared.close();
  }
}
