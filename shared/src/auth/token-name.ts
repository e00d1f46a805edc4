/** The form of a token's name: letters, digits and `. _ - @`, at most 100. */
export const tokenName = /^\w[\w.@-]{0,99}$/;
