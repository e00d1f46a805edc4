import * as z from "zod";

/**
 * The schema of a ProtoJSON message. Readers of ProtoJSON take a field by its JSON name (`taskId`) and by its name in the proto
 * (`task_id`); keys that name no field are left out.
 */
export function protoObject<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value) => withJsonNames(value, shape), z.object(shape));
}

function withJsonNames(value: unknown, shape: z.ZodRawShape): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      const name = key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
      return [Object.hasOwn(shape, name) && !Object.hasOwn(value, name) ? name : key, field];
    }),
  );
}
