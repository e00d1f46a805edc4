import type { TriggersConfig } from "manyhands/internal/config/triggers/trigger-config";
import { AppError } from "manyhands/internal/core/errors";
import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";
import { timetable } from "../starts/schedules/timetable.ts";
import { webhookPath } from "../starts/triggers/trigger-app.ts";
import type { DoctorCheck } from "./checks.ts";

/**
 * What starts by itself according to the settings: schedules with the time they are due next, and
 * triggers with the address that their sender posts to. Nothing if there are none.
 */
export function checkStarts(
  { schedules, triggers }: Pick<TriggersConfig, "schedules" | "triggers">,
  gatewayUrl: string,
  now: Date,
): DoctorCheck[] {
  const due = schedules.map(({ name, cron, timeZone, start }): DoctorCheck => {
    try {
      const next = timetable(cron, timeZone).next(now.getTime());
      const when = next === undefined ? "never again" : `next at ${new Date(next).toISOString()}`;
      return { name: "schedule", state: "ok", text: `${name} starts ${start}, ${when}` };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { name: "schedule", state: "fail", text: `${name}: ${error.message}` };
    }
  });
  const base = withoutLastSlashes(gatewayUrl);
  const hooks = triggers.map(({ name, type, start, events }): DoctorCheck => {
    const which = events.length === 0 ? "every event" : events.join(", ");
    return {
      name: "trigger",
      state: "ok",
      text: `${name} starts ${start} for ${which} of ${type} at ${base}${webhookPath}/${name}`,
    };
  });
  return [...due, ...hooks];
}
