import { lazily } from "../../core/async/lazy.ts";
import { AppError } from "../../core/errors.ts";
import { unprivilegedUser } from "../process/step-down.ts";
import type { Sandbox, SandboxProfile, SandboxTier } from "../sandbox/sandbox.ts";

/** What an earlier start found out about a sandbox. */
export type RememberedSandbox = {
  readonly tier: SandboxTier;
  readonly profile?: SandboxProfile | undefined;
  readonly description: string;
};

/**
 * The sandbox that an earlier start had, as far as it can be described. The first command opens it,
 * so that none runs before this process has tried the tier out. If the tier or its profile has
 * become another, no command runs, since the card promises more, and `wrong` is called so that the
 * next start looks again.
 */
export function rememberedSandbox(
  { tier, profile, description }: RememberedSandbox,
  open: () => Promise<Sandbox>,
  wrong: () => Promise<void>,
): Sandbox {
  let closed = false;
  const opened = lazily(async () => {
    const sandbox = await open();
    if (sandbox.tier === tier && sandbox.profile === profile && !closed) return sandbox;
    await sandbox.close();
    if (closed) throw new AppError("sandbox_unavailable", "The sandbox has been closed.");
    await wrong();
    throw new AppError(
      "sandbox_unavailable",
      `This server was started for commands confined by ${[tier, profile].join(" ").trim()}, which fails now. Start it again. ${sandbox.description}`,
    );
  });
  return {
    tier,
    ...(profile && { profile }),
    description,
    user: unprivilegedUser(),
    spawn: async (command) => (await opened.get()).spawn(command),
    async close() {
      closed = true;
      const sandbox = await opened.made()?.catch(() => undefined);
      await sandbox?.close();
    },
  };
}
