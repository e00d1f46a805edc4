const number = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL(?:\([\d,\s]+\))?)$/;
const time = /^(?:DATE|TIMESTAMP(?:_\w+)?(?: WITH TIME ZONE)?)$/;

/**
 * Whether a column of this type of the database holds numbers; a list of numbers does not count.
 */
export function isNumberType(type: string): boolean {
  return number.test(type);
}

/** Whether a column of this type of the database holds dates, or times of dates. */
export function isTimeType(type: string): boolean {
  return time.test(type);
}

/** Whether a column of this type may hold NaN and infinite values. */
export function isFloat(type: string): boolean {
  return type === "DOUBLE" || type === "FLOAT";
}
