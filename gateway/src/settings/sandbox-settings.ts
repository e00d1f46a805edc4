import { join } from "node:path";
import type { Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import type { createSandbox } from "manyhands/internal/machine/confinement/create-sandbox";
import { refuseOverridden } from "./overridden.ts";
import type { SettingsFile } from "./settings-file.ts";
import { withKeys } from "./toml-text.ts";

/** A tier that can be asked for; `auto` is the strongest that passes on the machine. */
export type AskedTier = Config["sandbox"]["tier"];

/** `[sandbox]` for people. */
export type SandboxSettingsView = {
  readonly file: string;
  readonly tier: { readonly value: AskedTier; readonly source: string };
  /** Domains that commands may reach, which only the tier `srt` can let them. */
  readonly allowDomains: readonly string[];
  /** Whether servers that run were started with another tier. */
  readonly restartNeeded: boolean;
};

/** What a tier does on this machine. */
export type SandboxTrial = {
  readonly works: boolean;
  /** The tier that commands would have; `none` if there would be no commands. */
  readonly tier: string;
  /** How they would be confined, or what each tier lacks here. */
  readonly description: string;
};

/** How commands are confined, as the settings say. */
export interface SandboxSettings {
  view(): Promise<SandboxSettingsView>;
  /** Tries a tier as a server does when it starts. */
  try(tier: AskedTier): Promise<SandboxTrial>;
  /**
   * Writes the tier. Rejects with `forbidden` for `off`, which only who can edit the file may ask
   * for; with `conflict` for a tier that fails on this machine, and if a variable overrides it.
   */
  save(tier: AskedTier): Promise<void>;
}

/** A gateway has no sandbox but for a trial. */
const openSandbox: typeof createSandbox = async (options) =>
  (await import("manyhands/internal/machine/confinement/create-sandbox")).createSandbox(options);

/** The sandbox in this file; `started` is what this process began with. */
export function sandboxSettings(
  file: SettingsFile,
  started: Pick<Config, "home" | "sandbox">,
  open: typeof createSandbox = openSandbox,
): SandboxSettings {
  const tryTier = async (mode: AskedTier): Promise<SandboxTrial> => {
    const { allow_domains: allow } = (await file.read()).sections.sandbox;
    const sandbox = await open({ mode, folder: join(started.home, "workspaces"), network: { allow } });
    const { tier, description } = sandbox;
    await sandbox.close();
    return { works: tier !== "none", tier, description };
  };
  return {
    async view() {
      const { sections, origins } = await file.read();
      const { tier, allow_domains: allowDomains } = sections.sandbox;
      return {
        file: file.path,
        tier: { value: tier, source: origins.get("sandbox.tier") ?? "default" },
        allowDomains,
        restartNeeded: tier !== started.sandbox.tier,
      };
    },
    try: tryTier,
    async save(tier) {
      if (tier === "off")
        throw new AppError(
          "forbidden",
          `Without a sandbox, commands may do all that the servers' user may. To allow that, write it to ${file.path} yourself: tier = "off" in [sandbox].`,
        );
      const settings = await file.read();
      refuseOverridden(settings, "sandbox.tier", tier !== settings.sections.sandbox.tier);
      const { works, description } = await tryTier(tier);
      if (!works)
        throw new AppError(
          "conflict",
          `Nothing was written: with ${tier}, agents here would have no commands. ${description}`,
        );
      await file.change((text) => withKeys(text, "sandbox", { tier }));
    },
  };
}
