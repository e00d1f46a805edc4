import { expect, spyOn, test } from "bun:test";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { processByHand } from "../../../testing/sandbox/process-by-hand.ts";
import { createStdioTransport, createTextTail } from "./stdio-transport.ts";

test("only the end of the output is kept, however long it is", () => {
  const tail = createTextTail();
  for (let n = 0; n < 1_000; n++) tail.push(new TextEncoder().encode(`${"warning ".repeat(1_000)}\n`));
  tail.push(new TextEncoder().encode("the last word\n"));
  expect(tail.text()).toEndWith("the last word");
  expect(tail.text().length).toBeLessThanOrEqual(2_000);
  tail.push(new TextEncoder().encode("x".repeat(1_995)));
  tail.push(new TextEncoder().encode("\u001b[31mthe end"));
  expect(tail.text()).toMatch(/^x+the end$/);
  tail.push(new TextEncoder().encode(`${"y".repeat(5_000)}the very end`));
  expect(tail.text()).toMatch(/^y+the very end$/);
});

type Options = Parameters<typeof processByHand>[0] & { readonly maxMessageBytes?: number };

/** A transport to a program that a test plays, and what came over it. */
function transportTo({ maxMessageBytes = 100, ...options }: Options = {}) {
  const program = processByHand(options);
  const transport = createStdioTransport({ start: async () => program.process, maxMessageBytes });
  const got: JSONRPCMessage[] = [];
  const closed = Promise.withResolvers<void>();
  let closes = 0;
  transport.onmessage = (message) => void got.push(message);
  transport.onclose = () => {
    closes++;
    closed.resolve();
  };
  return { program, transport, got, closed: closed.promise, closes: () => closes };
}
const message = (method: string) => ({ jsonrpc: "2.0" as const, method });
const line = (method: string) => JSON.stringify(message(method));
const settled = () => Bun.sleep(0);

test("messages are lines, however they arrive; lines that are none are skipped", async () => {
  const { program, transport, got } = transportTo();
  await transport.start();
  const euro = `${line("a€b")}\n`;
  program.says(
    "stdout",
    `starting up\n{"not": "a message"}\n\n${line("one")}\n${line("two")}\n${line("three").slice(0, 9)}`,
  );
  await settled();
  expect(got).toEqual([message("one"), message("two")]);
  for (const piece of [line("three").slice(9), "\n", `${line("four")}\r\n`, euro.slice(0, 5), euro.slice(5)]) {
    program.says("stdout", piece);
    await settled();
  }
  expect(got.slice(2)).toEqual([message("three"), message("four"), message("a€b")]);
  await transport.send(message("sent"));
  expect(program.done).toEqual([`write ${line("sent")}\n`, "flush"]);
});

test("a message of exactly the bound is taken; one byte more ends the program, and nothing after it counts", async () => {
  const bound = line("x").length;
  for (const [text, isTaken] of [
    [`${line("x")}\n`, true],
    [`${line("xy")}\n${line("x")}\n`, false],
    [line("x"), true],
    [line("xy"), false],
  ] as const) {
    const { program, transport, got, closes } = transportTo({ maxMessageBytes: bound });
    await transport.start();
    program.says("stdout", text);
    await settled();
    if (closes() === 0) program.says("stdout", "\n");
    await settled();
    expect([text, got, closes()]).toEqual([text, isTaken ? [message("x")] : [], isTaken ? 0 : 1]);
    expect(transport.ending()).toBe(isTaken ? undefined : `it sent a message of more than ${bound} bytes`);
    expect(program.done).toEqual(isTaken ? [] : ["kill"]);
  }
});

test.each<[Options, number, string]>([
  [{}, 3, "it ended (exit code 3); the end of its standard error: no database"],
  [{ limitHit: "memory 2 GB" }, 137, "it ended (memory 2 GB); the end of its standard error: no database"],
])("a program that ends is told with the reason: %j, %d", async (options, code, told) => {
  const { program, transport, closed, closes } = transportTo(options);
  await transport.start();
  expect(transport.ending()).toBeUndefined();
  program.says("stderr", "no data\u001b[31mbase\n");
  await settled();
  program.exits(code);
  await closed;
  expect([transport.ending(), closes()]).toEqual([told, 1]);
  await expect(transport.send(message("late"))).rejects.toMatchObject({ code: "unavailable", message: told });
  await transport.close();
  expect([transport.ending(), closes()]).toEqual([told, 1]);
});

test("closing asks the program to end, and resolves when it has", async () => {
  const { program, transport, closes } = transportTo({ on: (what, it) => what === "end" && it.exits(0) });
  await transport.start();
  await transport.close();
  expect([program.done, closes(), transport.ending()]).toEqual([["end", "kill"], 1, undefined]);
  await expect(transport.send(message("late"))).rejects.toMatchObject({ message: "The server is not running." });
});

test("a program that starts when nobody waits any more is ended at once; before it, nothing is sent", async () => {
  const { program, transport, closes } = transportTo();
  await expect(transport.send(message("early"))).rejects.toMatchObject({
    code: "unavailable",
    message: "The server is not running.",
  });
  await transport.close();
  await transport.start();
  expect([program.done, closes()]).toEqual([["kill"], 1]);
});

test("noise is forgiven with each message", async () => {
  const noise = `${"x".repeat(33 * 2 ** 20)}\n`;
  const { program, transport, got, closes } = transportTo({ maxMessageBytes: 2 ** 30 });
  await transport.start();
  for (const text of [noise, `${line("x")}\n`, noise, `${line("y")}\n`]) program.says("stdout", text);
  while (got.length < 2 && closes() === 0) await settled();
  expect([got.length, transport.ending()]).toEqual([2, undefined]);
});

test("endless noise ends a program, however short its lines are", async () => {
  const { program, transport, got, closed } = transportTo({ maxMessageBytes: 2 ** 30 });
  await transport.start();
  const noise = `${"x".repeat(33 * 2 ** 20)}\n`;
  program.says("stdout", noise);
  await settled();
  expect(transport.ending()).toBeUndefined();
  program.says("stdout", `${noise}${line("late")}\n`);
  await closed;
  expect([transport.ending(), got, program.done]).toEqual(["it wrote 64 MB that were no messages", [], ["kill"]]);
});

test("a program that does not end when it is asked to, or only closes its output, is killed after two seconds", async () => {
  const times: unknown[] = [];
  using _ = spyOn(Bun, "sleep").mockImplementation(async (ms) => void times.push(ms));
  const asked = transportTo();
  await asked.transport.start();
  await asked.transport.close();
  expect(asked.program.done).toEqual(["end", "kill"]);
  const { process, done } = asked.program;
  const stdout = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  const silent = { ...process, stdout, stderr: stdout, exited: new Promise<number>(() => undefined) };
  const transport = createStdioTransport({ start: async () => silent, maxMessageBytes: 100 });
  const { promise, resolve } = Promise.withResolvers<void>();
  transport.onclose = resolve;
  await transport.start();
  await promise;
  expect([transport.ending(), done.at(-1), new Set(times)]).toEqual(["it closed its output", "kill", new Set([2_000])]);
});

test("who closes waits until the program is gone, also if it goes late", async () => {
  const { process } = transportTo().program;
  const gone = Promise.withResolvers<number>();
  using _ = spyOn(Bun, "sleep").mockImplementation(async () => undefined);
  const late = { ...process, exited: gone.promise, kill: () => undefined };
  const transport = createStdioTransport({ start: async () => late, maxMessageBytes: 100 });
  await transport.start();
  let isClosed = false;
  const closing = transport.close().then(() => {
    isClosed = true;
  });
  for (let n = 0; n < 50; n++) await Promise.resolve();
  expect(isClosed).toBe(false);
  gone.resolve(0);
  await closing;
});
