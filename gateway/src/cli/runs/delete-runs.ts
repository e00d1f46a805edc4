import type { Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { HomeFiles } from "manyhands/internal/core/runs/housekeeping";
import { counted } from "manyhands/internal/core/text/counted";
import { createDeletions } from "manyhands/internal/runs/deletions";
import { sweep } from "manyhands/internal/runs/sweep";
import { openHomeFiles } from "manyhands/internal/server/machine/open-workspaces";
import { openArtifacts } from "manyhands/internal/server/storage/open-artifacts";
import { openStore } from "manyhands/internal/server/storage/open-engine";
import type { CliContext } from "../../session/context.ts";
import { exitCodes } from "../../terminal/exit-code.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import type { RunsOptions } from "./runs.ts";

/** Options of `runs delete` and `prune`. */
type DeleteOptions = Pick<RunsOptions, "config" | "json">;

/**
 * Deletes ended runs of the home for good, after asking. Servers may be up; what they gave to
 * agents with other homes is deleted by the servers.
 */
export async function deleteRuns(
  ids: readonly string[],
  options: DeleteOptions & { readonly yes?: boolean },
  context: CliContext,
): Promise<number> {
  const { terminal } = context;
  return withHome(options, context, async ({ engine, files }) => {
    const runs = await Promise.all(ids.map(async (id) => (await engine.get(id)) ?? missing(id)));
    const what = runs.length === 1 ? `run ${runs[0]?.id}` : `${runs.length} runs`;
    const answer = options.yes ? "yes" : await terminal.ask(`Delete ${what} with all files, for good? (yes/no)`);
    if (!/^y(es)?$/i.test(answer?.trim() ?? "")) {
      terminal.say("Nothing is deleted. Answer yes, or use --yes.");
      return exitCodes.failed;
    }
    const deletions = createDeletions({ engine, files });
    const all = [];
    // One may be a part of another, and go with it.
    for (const run of runs) if ((await engine.get(run.id)) !== undefined) all.push(await deletions.run(run));
    const deleted = all.flatMap((one) => one.deleted);
    const elsewhere = all.flatMap((one) => one.elsewhere);
    if (options.json) terminal.out(`${JSON.stringify({ deleted, elsewhere }, undefined, 2)}\n`);
    else for (const id of deleted) terminal.say(`Deleted ${id}.`);
    for (const { agent, taskId, outcome } of elsewhere) {
      const place = `Task ${safeLine(taskId, 100)} at ${safeLine(agent.name, 100)}`;
      if (outcome === "pending") terminal.say(`${place} is deleted once a server is up and the agent is reached.`);
      if (outcome === "kept") terminal.say(`${place} is kept: it cannot be deleted from here.`);
    }
    return exitCodes.ok;
  });
}

/**
 * Deletes what `[retention]` lets go now, all of it; with `dryRun`, says what that is. With
 * `compact`, also rewrites the store, so that nothing deleted is left in its unused space.
 */
export async function prune(
  options: DeleteOptions & { readonly dryRun?: boolean; readonly compact?: boolean },
  context: CliContext,
): Promise<number> {
  const { terminal } = context;
  const { dryRun = false, compact = false } = options;
  return withHome(options, context, async ({ engine, files }, { retention, a2a }) => {
    const deps = { engine, files, retention, dedupeMs: a2a.dedupeMs };
    let swept = await sweep(deps, { dryRun });
    const total = { runs: [...swept.runs], journals: swept.journals, workspaces: [...swept.workspaces] };
    const artifacts = [...swept.artifacts];
    while (swept.more && !dryRun) {
      swept = await sweep(deps);
      total.runs.push(...swept.runs);
      total.journals += swept.journals;
      total.workspaces.push(...swept.workspaces);
      artifacts.push(...swept.artifacts);
    }
    const isCompact = compact && !dryRun ? await engine.scrub({ evenLarge: true }) : undefined;
    if (options.json) terminal.out(`${JSON.stringify({ ...total, artifacts, more: swept.more }, undefined, 2)}\n`);
    else {
      const more = swept.more ? " at least" : "";
      // A dry run finds the runs that nothing here asked for; what these asked for goes with them.
      const asked = dryRun ? " with what they asked for here" : "";
      const counts = `${counted(total.runs.length, "run")}${asked}, ${counted(total.journals, "journal")}, ${counted(total.workspaces.length, "workspace")} and ${counted(artifacts.length, "file")}`;
      const isNothing = total.runs.length + total.journals + total.workspaces.length + artifacts.length === 0;
      if (isNothing) terminal.out("There is nothing to delete.\n");
      else terminal.out(`${dryRun ? `Would delete${more}` : "Deleted"} ${counts}.\n`);
      if (dryRun) for (const id of total.runs) terminal.out(`  run ${id}\n`);
      if (dryRun) for (const name of total.workspaces) terminal.out(`  workspaces/${name}\n`);
    }
    const { runsMs } = retention;
    if (runsMs !== undefined && runsMs < a2a.dedupeMs)
      terminal.say(
        `Runs are kept until ${Math.ceil(a2a.dedupeMs / 360_000) / 10} h after they were accepted, as a message sent again is the same run ([a2a] dedupe).`,
      );
    if (isCompact === false) throw new AppError("unavailable", "The store is in use; try --compact again.");
    return exitCodes.ok;
  });
}

function missing(id: string): never {
  throw new AppError("not_found", `There is no run ${id}.`);
}

/** What a command needs of a home: its store, which executes nothing, and its files. */
export type OpenHome = { readonly engine: Engine; readonly files: HomeFiles };

/** Opens the home of the settings. Rejects with `not_found` if it has no runs. */
export async function withHome(
  options: DeleteOptions,
  context: CliContext,
  act: (home: OpenHome, config: Config) => Promise<number>,
): Promise<number> {
  const config = await context.configure(options.config);
  const engine = await openStore(config);
  if (engine === undefined) throw new AppError("not_found", `There are no runs in ${config.home}.`);
  try {
    return await act({ engine, files: openHomeFiles(config, { artifacts: openArtifacts(config), engine }) }, config);
  } finally {
    await engine.close();
  }
}
