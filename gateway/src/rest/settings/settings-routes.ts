import * as z from "zod";
import type { FlowSettings } from "../../settings/flow-settings.ts";
import type { McpSettings } from "../../settings/mcp-settings.ts";
import type { ModelSettings } from "../../settings/model-settings.ts";
import type { SandboxSettings } from "../../settings/sandbox-settings.ts";
import type { RestEndpoint } from "../endpoint.ts";
import { flowSettingsRoutes } from "./flow-settings-routes.ts";
import { mcpServerRoutes } from "./mcp-server-routes.ts";
import { modelSettingsRoutes } from "./model-settings-routes.ts";
import { operatorEndpoint } from "./operator-endpoint.ts";
import { sandboxSettingsRoutes } from "./sandbox-settings-routes.ts";
import { type SkillSettings, skillRoutes } from "./skill-routes.ts";
import { type TokenRoutesDeps, tokenRoutes } from "./token-routes.ts";

/** How a system is set up, as its operator sees and changes it. */
export type OperatorSettings = TokenRoutesDeps & {
  readonly about: {
    readonly file: string;
    readonly home: string;
    readonly engine: string;
    /** The tier that the settings asked for at the start. */
    readonly sandbox: string;
    /** What in the settings has no effect. */
    readonly notes: readonly string[];
  };
  readonly model: ModelSettings;
  readonly sandbox: SandboxSettings;
  readonly mcp: McpSettings;
  readonly flows: FlowSettings;
  readonly skills: SkillSettings;
};

/** `/settings` and everything below it. */
export function settingsRoutes(settings: OperatorSettings): RestEndpoint[] {
  const about = {
    method: "get",
    path: "/settings",
    summary: "Where the settings and the data of this system are",
    request: {},
    answers: {
      200: {
        description: "Places and notes.",
        body: z.object({
          file: z.string().describe("The settings file; it may not be there yet."),
          home: z.string(),
          engine: z.string().describe("Where runs are stored."),
          sandbox: z
            .string()
            .describe("The tier that this gateway was started with; `GET /agents` says what each agent has."),
          notes: z.array(z.string()).describe("Settings without effect."),
        }),
      },
    },
    problems: [],
  } as const;
  return [
    operatorEndpoint(about, (_, c) => c.json(settings.about)),
    ...modelSettingsRoutes(settings.model),
    ...sandboxSettingsRoutes(settings.sandbox),
    ...mcpServerRoutes(settings.mcp),
    ...skillRoutes(settings.skills),
    ...flowSettingsRoutes(settings.flows),
    ...tokenRoutes(settings),
  ];
}
