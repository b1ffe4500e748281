/** The name of a resource, as a pattern. */
export const NAME = '^[A-Za-z_][A-Za-z0-9_-]*$';

/** An address, or what it begins with. */
export const ADDRESS = '^[a-z_]+\\.[A-Za-z_]';
