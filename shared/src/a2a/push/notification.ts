import { A2A_CONTENT_TYPE, A2A_VERSION_HEADER, StreamResponse } from "@a2a-js/sdk";
import { V03PushNotificationSerializer } from "@a2a-js/sdk/compat/v0_3/server";
import type { StoredEvent } from "../../core/runs/engine.ts";
import type { TaskProjection } from "../../runs/projection.ts";
import type { KeyRing } from "../signing/home-keys.ts";
import { signatureHeader, signNotification } from "../signing/notification-signature.ts";
import { eventUpdate } from "../stream-update.ts";
import { taskState } from "../task-state.ts";
import { type TaskIdentity, taskView } from "../task-view.ts";
import type { PushConfig } from "./push-config.ts";

/** A notification as it is sent, without its address. */
export type Notification = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

const legacy = new V03PushNotificationSerializer();

/**
 * The notification of a stored event; `projection` already includes it. Receivers of 0.3 get the
 * whole task, and so only changes of its state or artifacts; undefined for other events.
 */
export function eventNotification(
  config: PushConfig,
  identity: TaskIdentity,
  {
    projection,
    before,
    stored,
  }: { readonly projection: TaskProjection; readonly before: TaskProjection; readonly stored: StoredEvent },
  publicUrl: string,
): Notification | undefined {
  if (config.wire === "1.0") return notification(config, eventUpdate(identity, projection, stored, publicUrl));
  const changed = taskState(projection) !== taskState(before) || projection.artifacts !== before.artifacts;
  return changed ? taskNotification(config, identity, projection, publicUrl) : undefined;
}

/** The notification with the current task. */
export function taskNotification(
  config: PushConfig,
  identity: TaskIdentity,
  projection: TaskProjection,
  publicUrl: string,
): Notification {
  const task = taskView(identity, projection, publicUrl, { artifacts: true });
  return notification(config, { payload: { $case: "task", value: task } });
}

/**
 * The notification with its signature: under a header of its own, and as the bearer token if the
 * receiver wants no other credentials.
 */
export async function signedNotification(
  { url, authentication }: PushConfig,
  { headers, body }: Notification,
  ring: KeyRing,
  issuer: string,
): Promise<Notification> {
  const jwt = await signNotification(body, ring, { issuer, audience: url });
  const bearer = authentication === undefined ? { authorization: `Bearer ${jwt}` } : {};
  return { headers: { ...headers, [signatureHeader]: jwt, ...bearer }, body };
}

function notification({ token, authentication, wire }: PushConfig, response: StreamResponse): Notification {
  const { body, contentType } =
    wire === "1.0"
      ? { body: JSON.stringify(StreamResponse.toJSON(response)), contentType: A2A_CONTENT_TYPE }
      : legacy.serialize(response);
  const headers = {
    "content-type": contentType,
    [A2A_VERSION_HEADER]: wire,
    ...(token !== "" && { "X-A2A-Notification-Token": token }),
    ...(authentication && { authorization: `${authentication.scheme} ${authentication.credentials}`.trim() }),
  };
  return { headers, body };
}
