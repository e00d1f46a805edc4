import * as z from "zod";
import type { SandboxSettings } from "../../settings/sandbox-settings.ts";
import type { RestEndpoint } from "../endpoint.ts";
import { operatorEndpoint } from "./operator-endpoint.ts";

const tier = z
  .enum(["auto", "srt", "bwrap", "landlock", "off"])
  .describe("`auto` is the strongest tier that passes on the machine; `off` confines nothing.");

const sandboxSettingsSchema = z
  .object({
    file: z.string().describe("The settings file; it may not be there yet."),
    tier: z.object({ value: tier, source: z.string().describe("A variable, a line of the file, or `default`.") }),
    allowDomains: z.array(z.string()).describe("Domains that commands may reach, which takes the tier `srt`."),
    restartNeeded: z.boolean().describe("Whether running servers use another tier until they are restarted."),
  })
  .meta({ id: "SandboxSettings" });

const trialSchema = z
  .object({
    works: z.boolean().describe("Whether agents would have commands."),
    tier: z.string().describe("The tier they would have; `none` without commands."),
    description: z.string().describe("How they would be confined, or what each tier lacks on this machine."),
  })
  .meta({ id: "SandboxTrial" });

/** `/settings/sandbox` and `/settings/sandbox/test`. */
export function sandboxSettingsRoutes(sandbox: SandboxSettings): RestEndpoint[] {
  const view = { description: "The settings of the sandbox.", body: sandboxSettingsSchema };
  const body = z.strictObject({ tier });
  const show = {
    method: "get",
    path: "/settings/sandbox",
    summary: "The sandbox tier asked for, and where it is set",
    request: {},
    answers: { 200: view },
    problems: [],
  } as const;
  const save = {
    method: "post",
    path: "/settings/sandbox",
    summary: "Writes the sandbox tier to the settings file",
    description:
      "A tier that fails on the gateway's machine is not written, nor is `off`. Running servers use it once they are restarted.",
    request: { body },
    answers: { 200: view },
    problems: [409],
  } as const;
  const test = {
    method: "post",
    path: "/settings/sandbox/test",
    summary: "Tries a sandbox tier on the gateway's machine, which need not be saved",
    request: { body },
    answers: { 200: { description: "What it does here; a failure too.", body: trialSchema } },
    problems: [],
  } as const;
  return [
    operatorEndpoint(show, async (_, c) => c.json(await sandbox.view())),
    operatorEndpoint(save, async ({ body }, c) => {
      await sandbox.save(body.tier);
      return c.json(await sandbox.view());
    }),
    operatorEndpoint(test, async ({ body }, c) => c.json(await sandbox.try(body.tier))),
  ];
}
