import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import type { ProtocolVersion } from "../version.ts";

/**
 * Where and how one receiver is told of a task. `wire` is the protocol version its notifications
 * are written in.
 */
export type PushConfig = {
  readonly id: string;
  readonly url: string;
  /**
   * Sent back with every notification, so that the receiver knows whom it is from; empty for none.
   */
  readonly token: string;
  readonly authentication?: { readonly scheme: string; readonly credentials: string };
  readonly wire: ProtocolVersion;
};

/**
 * What a receiver asked for, as it is kept; one that names no id gets one made from the rest, so
 * that the same request is the same receiver.
 */
export function pushConfig(asked: TaskPushNotificationConfig, wire: ProtocolVersion): PushConfig {
  const { url, token, authentication } = asked;
  const target = { url, token, ...(authentication && { authentication: { ...authentication } }), wire };
  return { id: asked.id || digest(target), ...target };
}

/** A receiver as A2A tells it. */
export function pushConfigView(taskId: string, { wire: _, authentication, ...config }: PushConfig) {
  return { tenant: "", taskId, ...config, authentication } satisfies TaskPushNotificationConfig;
}

function digest(target: object): string {
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(target)).digest("hex").slice(0, 32);
}
