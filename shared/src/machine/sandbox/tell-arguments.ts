import { closeSync, writeSync } from "node:fs";
import { errnoOf } from "../../core/errno.ts";

const pauseMs = 1;

/** Gives a program arguments by a pipe of ours, each ended by NUL, and closes it. A program that has gone says itself why. */
export async function tellArguments(end: number, argv: readonly string[]): Promise<void> {
  const bytes = Buffer.from(argv.map((argument) => `${argument}\0`).join(""));
  try {
    for (let written = 0; written < bytes.length; ) {
      try {
        written += writeSync(end, bytes, written);
      } catch (error) {
        if (errnoOf(error) !== "EAGAIN") throw error;
        await Bun.sleep(pauseMs);
      }
    }
  } catch (error) {
    if (errnoOf(error) !== "EPIPE") throw error;
  } finally {
    closeSync(end);
  }
}
