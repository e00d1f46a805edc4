import type { ChatAnswer, ChatRequest } from "../chat-protocol.ts";
import { type ChatServer, type Delivery, startChatServer } from "../chat-server.ts";
import { type ModelConfig, modelConfigSchema } from "../config.ts";
import { examples } from "./examples/examples.ts";
import { handover } from "./handover/handover.ts";
import { ordersReport } from "./orders-report.ts";
import { nextTurn, sceneOf } from "./play.ts";
import { refusal } from "./refusal.ts";
import type { Script } from "./script.ts";

/** The name under which the rehearsal model is asked, and shown wherever the model in use is named. */
const rehearsalModelName = "rehearsal";

const scripts: readonly Script[] = [ordersReport, ...handover, ...examples];

/**
 * Starts the rehearsal model: a chat completions server on loopback that plays scripts for the demo tasks over the real results of
 * real tools, says that it is no language model, and refuses everything else. It keeps nothing between requests. The caller closes it.
 */
export function startRehearsalModel(
  options: {
    readonly port?: number;
    /** Milliseconds between words: so that people can watch. */
    readonly pace?: number;
  } = {},
): Promise<ChatServer> {
  const { port = 0, pace = 6 } = options;
  return startChatServer({
    port,
    models: [rehearsalModelName],
    answer: ({ body }) => ({ ...answer(body), deltaDelayMs: pace }),
  });
}

/** How to reach a rehearsal model that runs. It costs nothing, and that is known. */
export function rehearsalConfig(url: string): ModelConfig {
  return modelConfigSchema.parse({
    name: rehearsalModelName,
    provider: rehearsalModelName,
    baseUrl: url,
    price: { inputPerMillion: 0, outputPerMillion: 0 },
  });
}

function answer(body: ChatRequest): ChatAnswer & Delivery {
  if (body.model !== rehearsalModelName) {
    return {
      status: 404,
      error: { message: `The model ${body.model} does not exist here, only ${rehearsalModelName} does` },
    };
  }
  const turn = nextTurn(body, scripts) ?? refusal(sceneOf(body), scripts);
  const earlier = body.messages.reduce((sum, message) => sum + (message.tool_calls?.length ?? 0), 0);
  const calls = turn.calls.map((call, index) => ({ ...call, id: `rehearsal_${earlier + index + 1}` }));
  return { text: turn.say, calls };
}
