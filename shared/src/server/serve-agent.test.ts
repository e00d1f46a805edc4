import { expect, spyOn, test } from "bun:test";
import { defineAgent } from "../agent/define-agent.ts";
import { AppError } from "../core/errors.ts";
import * as serving from "./agent-server.ts";
import * as machines from "./machine/open-machine.ts";
import * as servers from "./run-server.ts";
import { serveAgent } from "./serve-agent.ts";

const about = { title: "Tester", description: "", version: "1", skills: [], instructions: "", tools: [] };
const source = () => defineAgent({ name: "tester", ...about });

test("an agent is served under the name it is told, on the machine that the settings describe", async () => {
  using running = spyOn(servers, "runServer").mockResolvedValue(undefined);
  using opening = spyOn(machines, "openMachine").mockResolvedValue("a machine" as never);
  using starting = spyOn(serving, "startAgentServer").mockResolvedValue(undefined);
  await serveAgent(source);
  const [name, start, how] = running.mock.calls[0] ?? [];
  expect([name, how]).toEqual(["tester", { isAgent: true }]);
  const config = { home: "/home", sandbox: "its sandbox", python: "its Python" } as never;
  const options = { name: "helper", mcpStdio: true };
  await start?.(config, "a log" as never, options);
  expect(opening.mock.calls).toEqual([["/home/workspaces", "its sandbox", "its Python"]] as never);
  const spec = { name: "helper", source };
  expect(starting.mock.calls).toEqual([[spec, { config, logger: "a log", machine: "a machine", options }]] as never);
});

test("an agent that cannot say its name is a wrong setting, unless it says what else is wrong", async () => {
  using ending = spyOn(servers, "endStart").mockReturnValue(undefined as never);
  using running = spyOn(servers, "runServer").mockResolvedValue(undefined);
  const known = new AppError("unavailable", "There is no such library.");
  for (const error of [new TypeError("a slip"), known])
    await serveAgent(() => {
      throw error;
    });
  const [slip, own] = ending.mock.calls;
  expect(slip).toMatchObject(["agent", { code: "config_invalid", message: "TypeError: a slip" }]);
  expect(own).toEqual(["agent", known]);
  expect(running).not.toHaveBeenCalled();
});
