/** Asking a language model. */
export type {
  AssistantMessage,
  Capabilities,
  Carried,
  ImagePart,
  ImageRule,
  JsonSchema,
  Model,
  ModelAskOptions,
  ModelEvent,
  ModelMessage,
  ModelReply,
  ModelRequest,
  ModelRoles,
  PricedTokens,
  TextPart,
  ToolCall,
  ToolChoice,
  ToolMessage,
  ToolSpec,
  Usage,
} from "../core/model.ts";
export type { Clock } from "../models/clock.ts";
export type { ModelSettings } from "../models/config.ts";
export { createModel, type ModelOptions } from "../models/create-model.ts";
export type { ShrinkImage } from "../models/images.ts";
export type { EndpointLimits, Limiter } from "../models/limiter.ts";
