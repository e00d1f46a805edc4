import { expect, test } from "bun:test";
import { rpc, textMessage } from "../../a2a/rpc.ts";
import { startKitAgent } from "./kit-agent.ts";
import { startKitFlow, startKitGateway } from "./kit-gateway.ts";

const capabilities = {
  streaming: true,
  push: true,
  extendedCard: false,
  requiredExtensions: [],
  cardStyle: "strict",
  otherwise: "tck-complete-task",
} as const;

test("an agent, the gateway before it and a flow answer with a bare message where the agent or the flow does", async () => {
  await using agent = await startKitAgent(capabilities);
  await using gateway = await startKitGateway(capabilities, agent);
  await using flow = await startKitFlow(capabilities, agent);
  for (const { url } of [agent, gateway, flow]) {
    const sent = async (messageId: string) =>
      (await rpc(url, "SendMessage", textMessage("Go", { messageId }))).body.result;
    expect(await sent("tck-message-response")).toMatchObject({
      message: { parts: [{ text: "Direct message response" }] },
    });
    expect(await sent("tck-complete-task")).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
  }
});

test("the servers of the kit take a message's id for as many messages as it is used for", async () => {
  await using agent = await startKitAgent(capabilities);
  await using flow = await startKitFlow(capabilities, agent);
  for (const { url } of [agent, flow]) {
    const send = async (text: string, over: object) =>
      (await rpc(url, "SendMessage", textMessage(text, { messageId: "tck-input-required", ...over }))).body.result.task;
    const asked = await send("Start", {});
    const state = async (text: string) => (await send(text, { taskId: asked.id })).status.state;
    expect(await state("TCK history message 1")).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(await state("TCK history message 2")).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(await state("The end")).toBe("TASK_STATE_COMPLETED");
  }
});
