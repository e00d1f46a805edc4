import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";
import { type ProviderWire, usual, words } from "./wire.ts";

const codec = new EventStreamCodec(toUtf8, fromUtf8);
const frame = (type: string, body: object) =>
  codec.encode({
    headers: {
      ":event-type": { type: "string", value: type },
      ":content-type": { type: "string", value: "application/json" },
      ":message-type": { type: "string", value: "event" },
    },
    body: fromUtf8(JSON.stringify(body)),
  });

/** Bedrock's Converse, in AWS's event stream. */
export const bedrock: ProviderWire = {
  settings: { apiType: "aws", name: "us.anthropic.claude-3-7-sonnet-20250219-v1:0", region: "us-west-2" },
  base: "",
  path: /\/model\/[^/]+\/converse-stream$/,
  contentType: "application/vnd.amazon.eventstream",
  frames({ text, thinking, calls = [], tokens = usual, isCut, refusal }) {
    const said = text ?? refusal;
    const stop = refusal !== undefined ? "refusal" : isCut ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn";
    const blocks = [
      ...(thinking
        ? [
            {
              deltas: [
                ...words(thinking.text).map((word) => ({ reasoningContent: { text: word } })),
                { reasoningContent: { signature: thinking.signature } },
              ],
            },
          ]
        : []),
      ...(said === undefined ? [] : [{ deltas: words(said).map((word) => ({ text: word })) }]),
      ...calls.map((call) => ({
        start: { toolUse: { toolUseId: call.id, name: call.name } },
        deltas: words(call.json).map((word) => ({ toolUse: { input: word } })),
      })),
    ] as { start?: object; deltas: object[] }[];
    return [
      frame("messageStart", { role: "assistant" }),
      ...blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
        ...(start ? [frame("contentBlockStart", { contentBlockIndex, start })] : []),
        ...deltas.map((delta) => frame("contentBlockDelta", { contentBlockIndex, delta })),
        frame("contentBlockStop", { contentBlockIndex }),
      ]),
      frame("messageStop", { stopReason: stop }),
      frame("metadata", {
        usage: {
          inputTokens: tokens.fresh,
          outputTokens: tokens.output,
          totalTokens: tokens.fresh + tokens.output,
          cacheReadInputTokens: tokens.cached,
          cacheWriteInputTokens: tokens.written,
        },
        metrics: { latencyMs: 5 },
      }),
    ];
  },
  error: (_, message) => ({ message }),
  overflow: { status: 400, message: "Input is too long for requested model." },
};
