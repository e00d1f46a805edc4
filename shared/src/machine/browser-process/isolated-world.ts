import type { ElementHandle, Frame } from "playwright";
import { lazily } from "../../core/async/lazy.ts";

/**
 * A script for pages: `source` makes an object of functions, once in each document. Their results
 * are sent as JSON; one named `element` returns an element by its number.
 */
export type IsolatedProgram = { readonly id: string; readonly source: string };

/** A call of one of a program's functions. */
type Call = { readonly id: string; readonly source?: string; readonly name: string; readonly arg?: unknown };

let engine = "isolated";
let opened = 0;
const unknown = "unknown program";
const registered = lazily(() => register(engine));

async function register(name: string): Promise<void> {
  const { selectors } = await import("playwright");
  const content = `(${isolatedEngine})(${JSON.stringify(unknown)})`;
  await selectors.register(name, { content }, { contentScript: true });
}

/**
 * Lets programs run in the pages of browsers that are opened after this: in an isolated world,
 * which shares the document with the page, but no object and no function that the page's scripts
 * could have replaced. Playwright has such a world for its own scripts, and runs nothing of ours in
 * it but selector engines; so this is one, whose answers are texts.
 */
export function letProgramsRun(): Promise<void> {
  return registered.get();
}

/**
 * Lets them run also in contexts that are open already: those that a browser had before the
 * connection to it know no engine that was registered before, but each one that is now.
 */
export async function letProgramsRunInOpened(): Promise<void> {
  const name = `isolated${++opened}`;
  await register(name);
  engine = name;
}

/** The result of a program's function in a frame's document. Rejects as Playwright's calls do. */
export async function callIsolated<T>(
  frame: Frame,
  { id, source }: IsolatedProgram,
  { name, arg, timeoutMs }: { readonly name: string; readonly arg?: unknown; readonly timeoutMs: number },
): Promise<T> {
  const ask = (call: Call) => frame.textContent(selectorOf(call), { timeout: timeoutMs }).catch(shorten);
  const first = await ask({ id, name, arg });
  // A document gets the program with the first call.
  const answer = first === unknown ? await ask({ id, source, name, arg }) : first;
  const { value, error } = JSON.parse(answer ?? "") as { value?: T; error?: string };
  if (error !== undefined) throw new Error(error);
  return value as T;
}

/** The element with a number; null when it is gone, or its document. */
export async function isolatedElement(
  frame: Frame,
  { id }: IsolatedProgram,
  number: number,
): Promise<ElementHandle | null> {
  return (await frame.$(selectorOf({ id, name: "element", arg: number }))) as ElementHandle | null;
}

/** Playwright's errors quote the call, which may have the program in it. */
function shorten(error: unknown): never {
  if (!(error instanceof Error)) throw error;
  const short = new Error(error.message.split("\n", 1)[0]);
  short.name = error.name;
  throw short;
}

function selectorOf(call: Call): string {
  return `${engine}=${JSON.stringify(call)}`;
}

type TextConstructor = new (text: string) => object;
declare const Text: TextConstructor;

/** Runs in each document. */
function isolatedEngine(unknown: string) {
  type Functions = Readonly<Record<string, ((arg: unknown) => unknown) | undefined>>;
  const programs = new Map<string, Functions>();
  const run = ({ id, name, arg }: Call) => {
    try {
      return JSON.stringify({ value: programs.get(id)?.[name]?.(arg) });
    } catch (error) {
      return JSON.stringify({ error: String(error) });
    }
  };
  return {
    queryAll(_: unknown, body: string): object[] {
      const call = JSON.parse(body) as Call;
      // biome-ignore lint/security/noGlobalEval: the source is ours, and the page cannot reach this world.
      if (call.source !== undefined) programs.set(call.id, globalThis.eval(call.source) as Functions);
      const program = programs.get(call.id);
      if (call.name === "element") return [program?.element?.(call.arg) ?? []].flat() as object[];
      return [new Text(program === undefined ? unknown : run(call))];
    },
  };
}
