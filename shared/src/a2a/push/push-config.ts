import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { sha256Of } from "../../core/text/sha256.ts";
import type { ProtocolVersion } from "../version.ts";

/** A receiver of a task's notifications; `wire` is the protocol version of the notifications. */
export type PushConfig = {
  readonly id: string;
  readonly url: string;
  /** Sent with every notification, so that the receiver recognizes the sender; empty for none. */
  readonly token: string;
  readonly authentication?: { readonly scheme: string; readonly credentials: string };
  readonly wire: ProtocolVersion;
};

/**
 * A receiver's request in stored form. Without an id it gets one derived from the rest, so that the
 * same request is the same receiver.
 */
export function pushConfig(asked: TaskPushNotificationConfig, wire: ProtocolVersion): PushConfig {
  const { url, token, authentication } = asked;
  const target = { url, token, ...(authentication && { authentication: { ...authentication } }), wire };
  return { id: asked.id || digest(target), ...target };
}

/** A receiver in A2A's form. */
export function pushConfigView(taskId: string, { wire: _, authentication, ...config }: PushConfig) {
  return { tenant: "", taskId, ...config, authentication } satisfies TaskPushNotificationConfig;
}

function digest(target: object): string {
  return sha256Of(JSON.stringify(target)).slice(0, 32);
}
