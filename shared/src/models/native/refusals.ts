import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import * as z from "zod";

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

const refusalDelta = z.object({ type: z.literal("response.refusal.delta"), delta: z.string() });
const stopDetails = z.object({ stopDetails: z.object({ explanation: z.string() }) });
const noReason = "The model refused to answer, and gave no reason.";

/**
 * What a part says in place of an answer: Responses has events of its own for it, which the SDK
 * passes on as they came, and leaves out of the text.
 */
export function refusalIn(part: LanguageModelV4StreamPart): string | undefined {
  return part.type === "raw" ? refusalDelta.safeParse(part.rawValue).data?.delta : undefined;
}

/**
 * Why an answer ends with a refusal, which is Anthropic's way: in its provider's words, or in ours
 * if it has none and the answer has no `text`. Undefined for any other end.
 */
export function refusalAtEnd(end: Finish | undefined, text: string): string | undefined {
  if (end?.finishReason.raw !== "refusal") return undefined;
  const { explanation } = stopDetails.safeParse(end.providerMetadata?.anthropic).data?.stopDetails ?? {};
  return explanation ?? (text.trim() === "" ? noReason : "");
}
