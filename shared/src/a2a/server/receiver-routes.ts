import { ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig } from "@a2a-js/sdk";
import { type Context, Hono } from "hono";
import { jsonBody, limitedBody } from "../../http/request-body.ts";
import { checked, requestSchemas } from "./request-schema.ts";
import { begin, bodyOf, json, query, type RestDeps } from "./rest-call.ts";

const address = "/tasks/:taskId/pushNotificationConfigs";

/** The receivers of a task's notifications over HTTP+JSON (A2A 1.0 section 11.3). */
export function receiverRoutes(deps: RestDeps): Hono {
  const { handler } = deps;
  const app = new Hono({ strict: false });

  app.post(address, jsonBody, limitedBody(), async (c) => {
    const call = await begin(deps, c);
    const asked = { ...object(await bodyOf(c)), taskId: c.req.param("taskId") };
    const request = TaskPushNotificationConfig.fromJSON(
      checked(requestSchemas.CreateTaskPushNotificationConfig, asked),
    );
    const made = await handler.createTaskPushNotificationConfig(request, call.context);
    return json(call, TaskPushNotificationConfig.toJSON(made));
  });
  app.get(address, async (c) => {
    const call = await begin(deps, c);
    const asked = { ...query(c), taskId: c.req.param("taskId") };
    const { taskId } = checked(requestSchemas.ListTaskPushNotificationConfigs, asked);
    const listed = await handler.listTaskPushNotificationConfigs({ ...page, taskId }, call.context);
    // The codec leaves out an empty list, which the specification wants present.
    return json(call, { configs: [], ...(ListTaskPushNotificationConfigsResponse.toJSON(listed) as object) });
  });
  app.get(`${address}/:id`, async (c) => {
    const call = await begin(deps, c);
    const found = await handler.getTaskPushNotificationConfig({ tenant: "", ...named(c) }, call.context);
    return json(call, TaskPushNotificationConfig.toJSON(found));
  });
  app.delete(`${address}/:id`, async (c) => {
    const call = await begin(deps, c);
    await handler.deleteTaskPushNotificationConfig({ tenant: "", ...named(c) }, call.context);
    return json(call, {});
  });
  return app;
}

const page = { tenant: "", pageSize: 0, pageToken: "" };

function named(c: Context) {
  return checked(requestSchemas.GetTaskPushNotificationConfig, {
    taskId: c.req.param("taskId"),
    id: c.req.param("id"),
  });
}

/** What is no object has no field that is right. */
function object(value: unknown): object {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
