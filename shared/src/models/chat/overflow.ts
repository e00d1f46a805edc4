/**
 * How providers say that a prompt is longer than their window, each with an example of its own
 * words. `always` holds for an error of the server's (5xx) too: its maker has no better status.
 */
export const overflowShapes: readonly {
  readonly provider: string;
  readonly shape: RegExp;
  readonly example: string;
  readonly always?: true;
}[] = [
  {
    provider: "OpenAI, Azure, Groq, DeepSeek, vLLM, OpenRouter",
    shape: /context.?length|maximum context|reduce the length/i,
    example: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  },
  { provider: "OpenAI, by the minute", shape: /request too large/i, example: "Request too large for gpt-4o" },
  {
    provider: "Anthropic",
    shape: /prompt is too long|exceed(s|ed)? context (limit|window)/i,
    example: "prompt is too long: 210000 tokens > 200000 maximum",
  },
  { provider: "Bedrock", shape: /input is too long/i, example: "Input is too long for requested model." },
  {
    provider: "Gemini",
    shape: /input token count/i,
    example: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  },
  {
    provider: "llama.cpp",
    shape: /exceed_context_size_error|exceeds the available context size/i,
    example: "request (5123 tokens) exceeds the available context size (4096 tokens), try increasing it",
    always: true,
  },
  {
    provider: "llama-cpp-python, MiniMax",
    shape: /context.?window/i,
    example: "Requested tokens (5123) exceed context window of 4096",
    always: true,
  },
  {
    provider: "Ollama",
    shape: /input length exceeds|prompt too long; exceeded max context/i,
    example: "the input length exceeds the context length",
    always: true,
  },
  {
    provider: "LM Studio",
    shape: /tokens to keep from the initial prompt|context the overflows/i,
    example:
      "Trying to keep the first 5123 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
    always: true,
  },
  {
    provider: "Text Generation Inference, Together",
    shape: /inputs`? tokens \+ `?max_new_tokens|inputs`? must have less than/i,
    example: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5123 `inputs` tokens",
  },
  {
    provider: "vLLM",
    shape: /prompt \(length \d+\) is longer than/i,
    example: "The decoder prompt (length 5123) is longer than the maximum model length of 4096.",
  },
  {
    provider: "Mistral",
    shape: /too large for model with \d+ maximum/i,
    example: "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
  },
  { provider: "Cohere", shape: /too many (input )?tokens/i, example: "too many tokens: size limit exceeded by 210" },
  {
    provider: "xAI",
    shape: /maximum prompt length/i,
    example: "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
  },
  {
    provider: "Qwen",
    shape: /range of input length should be/i,
    example: "Range of input length should be [1, 30720]",
  },
  { provider: "GLM", shape: /prompt exceeds max length|\b1261\b/i, example: "Prompt exceeds max length" },
  {
    provider: "Kimi",
    shape: /exceeded model token limit/i,
    example: "Invalid request: Your request exceeded model token limit: 8192",
  },
];

/** Whether an error's text says that the prompt is longer than the model's window. */
export function saysOverflow(text: string, { serverError }: { readonly serverError: boolean }): boolean {
  return overflowShapes.some(({ shape, always }) => (always === true || !serverError) && shape.test(text));
}

/** The smallest window that is taken for one: smaller numbers count something else. */
const smallestWindow = 512;

/**
 * The tokens of the window that an error names, however it names it: the last figure that is called
 * a limit. Undefined if it names none.
 */
export function windowNamed(text: string): number | undefined {
  const found = text.matchAll(
    /(?:context (?:length|size|window)|maximum (?:prompt|model) length|max(?:imum)?(?: number of tokens allowed)?|token limit|<=|less than|\[1,|n_ctx"?)(?:\s*(?:is|of|only|tokens?|:|\(|=|"))*\s*(\d{3,8})|(\d{3,8})(?: tokens)? (?:maximum|is the maximum)/gi,
  );
  const windows = [...found].map(([, after, before]) => Number(after ?? before));
  return windows.filter((window) => window >= smallestWindow).at(-1);
}
