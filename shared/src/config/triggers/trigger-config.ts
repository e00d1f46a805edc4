import type * as z from "zod";
import type { AppError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import type { AgentInput, FlowSettings } from "../../core/runs/task.ts";
import { checkName } from "../agents/agent-config.ts";
import type { notifySection, schedulesSection, triggersSection } from "../sections/trigger-sections.ts";
import type { Settings } from "../settings/settings.ts";
import { faultAt, originBelow } from "../settings/settings-error.ts";

/** What is started when a schedule is due or a webhook arrives, and for whom. */
export type StartConfig = {
  /** The name of the flow or agent. */
  readonly start: string;
  readonly task: string;
  readonly settings: FlowSettings;
  readonly budget?: NonNullable<AgentInput["budget"]>;
  /** Who is told when it has ended or asks something: names of notification targets. */
  readonly notify: readonly string[];
  readonly principal: string;
};

/** When a schedule is due, and what happens when it cannot start on time. */
export type TimingConfig = {
  /** Five fields, or a word such as `@daily`. */
  readonly cron: string;
  readonly timeZone: string;
  /** Whether what fell into an outage is made up for, once however much it was. */
  readonly missed: "once" | "skip";
  /** Whether it starts while its last run has not ended. */
  readonly overlap: "skip" | "allow";
};

/** `[schedules.NAME]` */
export type ScheduleConfig = StartConfig &
  TimingConfig & {
    readonly name: string;
    /** Where its times were set, for people. */
    readonly origin?: string | undefined;
  };

/** `[triggers.NAME]`: whose webhooks start something. */
export type TriggerConfig = StartConfig & {
  readonly name: string;
  readonly type: "github" | "gitlab" | "slack" | "standard" | "hmac";
  readonly secret: string;
  /** The events that count; all of them if empty. */
  readonly events: readonly string[];
  readonly signatureHeader: string;
  readonly timestampHeader: string | undefined;
};

/** `[notify.NAME]`: who is told of runs, and by which way. */
export type NotifyTarget = {
  readonly name: string;
  /** Who may name it; everybody if empty. */
  readonly principals: readonly string[];
} & (
  | { readonly type: "webhook"; readonly url: string; readonly secret: string | undefined }
  | { readonly type: "slack"; readonly url: string }
  | EmailTarget
);

/** A target that is told by e-mail. */
export type EmailTarget = {
  readonly type: "email";
  readonly host: string;
  readonly port: number;
  readonly security: "starttls" | "tls" | "none";
  readonly login: { readonly user: string; readonly pass: string } | undefined;
  readonly from: string;
  readonly to: readonly string[];
};

/** What the settings say about schedules, webhooks and notifications. */
export type TriggersConfig = {
  readonly schedules: readonly ScheduleConfig[];
  readonly triggers: readonly TriggerConfig[];
  readonly notify: readonly NotifyTarget[];
};

type StartTable = z.output<typeof schedulesSection>[string] | z.output<typeof triggersSection>[string];
type NotifyTable = z.output<typeof notifySection>[string];

/** `[schedules]`, `[triggers]` and `[notify]`. Throws `config_invalid`. */
export function triggersConfig(settings: Settings): TriggersConfig {
  const { schedules, triggers, notify } = settings.sections;
  const targets = Object.entries(notify).map(([name, table]) => targetOf(name, table, settings));
  const startOf = (section: "schedules" | "triggers", name: string, table: StartTable): StartConfig => {
    checkName(section, name, settings);
    const unknown = table.notify.find((one) => !targets.some((target) => mayName(target, one, table.principal)));
    if (unknown !== undefined) {
      const known = targets.map((target) => target.name).join(", ") || "none";
      throw invalid(
        settings,
        [section, name],
        `notify: ${unknown} is no [notify] table that it may name. Known: ${known}.`,
      );
    }
    const { start, task, agents, options, budget, principal } = table;
    return {
      ...{ start, task, notify: table.notify, principal },
      settings: defined({ agents, options }),
      ...(budget && { budget: defined(budget) }),
    };
  };
  return {
    schedules: Object.entries(schedules).map(([name, table]) => {
      const { cron, time_zone: timeZone, missed, overlap } = table;
      const origin = originBelow(settings, ["schedules", name, "cron"]);
      return { ...startOf("schedules", name, table), name, cron, timeZone, missed, overlap, origin };
    }),
    triggers: Object.entries(triggers).map(([name, table]) => {
      const { type, secret, events, signature_header: signatureHeader, timestamp_header: timestampHeader } = table;
      if (secret === undefined) throw invalid(settings, ["triggers", name], "needs secret_env or secret.");
      if (type === "standard" || secret.startsWith("whsec_")) checkStandard(secret, settings, ["triggers", name]);
      return { ...startOf("triggers", name, table), name, type, secret, events, signatureHeader, timestampHeader };
    }),
    notify: targets,
  };
}

/** Whether a target has this name, and the principal may name it. */
export function mayName(target: Pick<NotifyTarget, "name" | "principals">, name: string, principal: string): boolean {
  return target.name === name && (target.principals.length === 0 || target.principals.includes(principal));
}

const defaultPorts = { starttls: 587, tls: 465, none: 25 } as const;

function targetOf(name: string, table: NotifyTable, settings: Settings): NotifyTarget {
  checkName("notify", name, settings);
  const { type, principals, url, secret, host, port, security, user, password, from, to } = table;
  const missing = (what: string) => invalid(settings, ["notify", name], `of type "${type}" needs ${what}.`);
  if (type === "email") {
    if (host === undefined || from === undefined || to === undefined) throw missing("host, from and to");
    if ((user === undefined) !== (password === undefined)) throw missing("user and password_env, or neither");
    const login = user === undefined || password === undefined ? undefined : { user, pass: password };
    return { name, principals, type, host, port: port ?? defaultPorts[security], security, login, from, to };
  }
  if (url === undefined) throw missing("url_env or url");
  if (secret !== undefined) checkStandard(secret, settings, ["notify", name]);
  return type === "slack" ? { name, principals, type, url } : { name, principals, type, url, secret };
}

/**
 * A secret of https://www.standardwebhooks.com is base64: what is not would sign with next to
 * nothing.
 */
function checkStandard(secret: string, settings: Settings, path: readonly string[]): void {
  if (/^(?:whsec_)?[A-Za-z0-9+/]{22,}={0,2}$/.test(secret)) return;
  throw invalid(settings, path, 'has a secret that is not "whsec_" and 16 bytes or more in base64.');
}

function invalid(settings: Settings, path: readonly string[], why: string): AppError {
  return faultAt(settings, path, `[${path.join(".")}] ${why}`);
}
