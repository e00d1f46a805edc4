import { mkdir, open } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { AppError, errnoOf } from "manyhands/internal/core/errors";
import { filesOf } from "manyhands/internal/core/events/event-files";
import { counted } from "manyhands/internal/core/text/counted";
import { createFamilies } from "manyhands/internal/runs/family";
import { openArtifacts } from "manyhands/internal/server/storage/open-artifacts";
import type { CliContext } from "../../session/context.ts";
import { exitCodes } from "../../terminal/exit-code.ts";
import { withHome } from "./delete-runs.ts";
import type { RunsOptions } from "./runs.ts";

/**
 * Writes a run, and those it asked for in this home, to a new file of JSON lines: `run`, `event`
 * and `file` entries. The files are beside it, in a folder named as the file and `.files`.
 */
export async function exportRun(
  id: string,
  file: string,
  options: Pick<RunsOptions, "config">,
  context: CliContext,
): Promise<number> {
  const path = resolve(context.cwd, file);
  const folder = `${path}.files`;
  return withHome(options, context, async ({ engine }, config) => {
    const artifacts = openArtifacts(config);
    const first = await engine.get(id);
    if (first === undefined) throw new AppError("not_found", `There is no run ${id}.`);
    const runs = await createFamilies(engine).of(first);
    await using lines = await open(path, "wx", 0o600).catch(refuse(path));
    const write = (entry: object) => lines.write(`${JSON.stringify(entry)}\n`);
    const written = new Set<string>();
    for (const run of runs) {
      await write({ type: "run", ...run });
      for (const { seq, at, event } of await engine.events(run.id)) {
        await write({ type: "event", runId: run.id, seq, at, event });
        for (const { sha256, name, mediaType, size } of filesOf(event)) {
          const content = written.has(sha256) ? undefined : await artifacts.get(sha256);
          if (content === undefined) continue;
          written.add(sha256);
          const place = join(folder, sha256, basename(name));
          await mkdir(dirname(place), { recursive: true, mode: 0o700 });
          await Bun.write(place, content);
          await write({ type: "file", sha256, name, mediaType, size, path: place.slice(dirname(path).length + 1) });
        }
      }
    }
    context.terminal.say(
      `Wrote ${counted(runs.length, "run")} to ${file}, and ${counted(written.size, "file")} to ${file}.files.`,
    );
    return exitCodes.ok;
  });
}

function refuse(path: string): (error: unknown) => never {
  return (error) => {
    if (errnoOf(error) === "EEXIST") throw new AppError("conflict", `${path} exists already.`);
    throw new AppError("invalid_input", `${path} cannot be written (${errnoOf(error) ?? String(error)}).`);
  };
}
