/**
 * The part of set-up that reads the settings, a program of its own: a process that looked for
 * packages before they were installed does not find them afterwards.
 */
import { preparePython } from "./python-packages.ts";

const say = (line: string) => void process.stderr.write(`${line}\n`);
const prepared = await preparePython({ cwd: process.cwd(), env: process.env }, say);
if (prepared !== undefined) say(prepared);
