import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AppError } from "manyhands/internal/core/errors";
import { isSound, workersOf } from "manyhands/internal/durable/sqlite/disk/store-check";
import * as z from "zod";
import type { CliContext } from "../../session/context.ts";
import { exitCodes } from "../../terminal/exit-code.ts";
import { manifestName } from "./backup.ts";
import { contentsOf, openPlace, settingsFolder } from "./place.ts";
import { readTar } from "./tar.ts";

const manifest = z.looseObject({ format: z.literal(1), version: z.string(), createdAt: z.string() });

/**
 * Makes a home of a backup, whole or not at all. (Where only its contents can be replaced, a
 * process that is killed while they are moved leaves a part of it.) Rejects with `conflict` if
 * servers are at work in the home of the settings, or if it has something in it; with `replace`,
 * that is moved aside.
 */
export async function restore(
  file: string,
  options: { readonly config?: string; readonly replace?: boolean },
  context: CliContext,
): Promise<number> {
  const { terminal } = context;
  const { home, engine } = await context.configure(options.config);
  if (engine.kind !== "embedded")
    throw new AppError("invalid_input", "Runs in PostgreSQL are restored with its own tools, such as pg_restore.");
  const path = resolve(context.cwd, file);
  if (!existsSync(path)) throw new AppError("not_found", `There is no file ${path}.`);
  const isEmpty = checkPlace(home, (await contentsOf(home)).length === 0, options.replace === true);
  const { arriving, put } = await openPlace(home);
  try {
    await readTar(path, arriving);
    const about = manifest.safeParse(await readJson(join(arriving, manifestName)));
    if (!about.success) throw new AppError("invalid_input", `${path} is not a backup of a home.`);
    if (!isSound(join(arriving, "runs.db")))
      throw new AppError("invalid_input", `The run store in ${path} is damaged.`);
    // Servers may have started meanwhile.
    checkPlace(home, isEmpty, options.replace === true);
    const aside = await put();
    if (aside !== undefined) terminal.say(`What was there is in ${aside}.`);
    terminal.say(
      `Restored ${home}, as it was at ${about.data.createdAt}. Unfinished runs go on when its servers start.`,
    );
    terminal.say("Don't start the home that was backed up beside it: both would go on with the same runs.");
    if ((await readdir(join(home, settingsFolder))).length > 0)
      terminal.say(`The settings of then are in ${join(home, settingsFolder)}; none are put in use.`);
    return exitCodes.ok;
  } finally {
    await rm(arriving, { recursive: true, force: true });
  }
}

/** Whether the place is empty. Throws `conflict` if nothing may be put there. */
function checkPlace(home: string, isEmpty: boolean, replace: boolean): boolean {
  const store = join(home, "runs.db");
  if (existsSync(store) && workersOf(store) > 0)
    throw new AppError("conflict", `Servers are at work in ${home}. Stop them first.`);
  if (!isEmpty && !replace)
    throw new AppError("conflict", `There is a home in ${home}. Move it away, or use --replace, which moves it aside.`);
  return isEmpty;
}

async function readJson(path: string): Promise<unknown> {
  return Bun.file(path)
    .json()
    .catch(() => undefined);
}
