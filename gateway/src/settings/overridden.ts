import type { Settings } from "manyhands/internal/config/settings/settings";
import { AppError } from "manyhands/internal/core/errors";

/**
 * Refuses to change a setting that a variable sets: it takes precedence over the file, so what is
 * written would have no effect.
 */
export function refuseOverridden({ origins, file }: Settings, key: string, changes: boolean): void {
  const origin = origins.get(key);
  const isVariable = origin !== undefined && (file === undefined || !origin.startsWith(file));
  if (!isVariable || !changes) return;
  throw new AppError(
    "conflict",
    `${origin} is set in the environment of the servers and takes precedence over the settings file. Change it there, or start without it.`,
  );
}
