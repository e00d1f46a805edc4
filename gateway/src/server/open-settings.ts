import type { AuthStore } from "manyhands/internal/auth/auth-store";
import type { Config } from "manyhands/internal/config/config";
import { engineText } from "manyhands/internal/config/storage/engine-config";
import { openSkillLibrary } from "manyhands/internal/server/open-skills";
import { openTokens, type Shared } from "manyhands/internal/server/storage/open-shared";
import type { FlowList } from "../flows/flow-list.ts";
import type { Registry } from "../registry/registry.ts";
import type { OperatorSettings } from "../rest/settings/settings-routes.ts";
import { flowSettings } from "../settings/flow-settings.ts";
import { mcpSettings } from "../settings/mcp-settings.ts";
import { modelSettings } from "../settings/model-settings.ts";
import { sandboxSettings } from "../settings/sandbox-settings.ts";
import { type SettingsPlace, settingsFile } from "../settings/settings-file.ts";

/** What the settings are part of. */
export type OpenSettingsDeps = Omit<SettingsPlace, "file"> & {
  readonly config: Config;
  readonly flows: FlowList;
  readonly registry: Pick<Registry, "list">;
  readonly shared: Pick<Shared, "pins" | "credentials" | "skillPins">;
  readonly log: { warn(fields: object, message: string): void };
};

/** The settings of a gateway's system, for its operator. The caller closes `mcp`. */
export function openSettings({ cwd, env, config, flows, registry, shared, log }: OpenSettingsDeps) {
  const warn = (message: string) => log.warn({}, message);
  const file = settingsFile({ cwd, file: config.file, env });
  return {
    about: {
      file: file.path,
      home: config.home,
      engine: engineText(config.engine, config.home),
      sandbox: config.sandbox.tier,
      notes: config.notes,
    },
    model: modelSettings(file, config),
    sandbox: sandboxSettings(file, config),
    mcp: mcpSettings(config, { env, shared, warn }),
    flows: flowSettings({ file, cwd, config, flows, registry }),
    skills: openSkillLibrary(config, shared),
    tokens: tokensOf(config),
    asksForTokens: config.server.token !== undefined,
  } satisfies OperatorSettings;
}

/**
 * The tokens of the system, opened for each use: that is rare, and needs nothing closed at the end.
 */
function tokensOf(config: Config): OperatorSettings["tokens"] {
  const use = async <Result>(act: (store: AuthStore) => Promise<Result>): Promise<Result> => {
    const store = await openTokens(config);
    try {
      return await act(store);
    } finally {
      await store.close();
    }
  };
  return {
    add: (token) => use((store) => store.add(token)),
    list: () => use((store) => store.list()),
    revoke: (name) => use((store) => store.revoke(name)),
  };
}
