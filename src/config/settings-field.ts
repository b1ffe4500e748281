import type { FieldSchema } from '../core/schema.ts';

/** A schema with the limits that only the validator reads, beside what `FieldSchema` names. */
export type SettingsField = Omit<FieldSchema, 'properties' | 'additionalProperties' | 'items'> & {
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly properties?: { readonly [name: string]: SettingsField };
  readonly additionalProperties?: boolean | SettingsField;
  readonly items?: SettingsField;
  readonly anyOf?: readonly { readonly required: readonly string[] }[];
};
