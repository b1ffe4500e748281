import type { Address } from '../core/address.ts';

/**
 * What is not as the snapshot has it, or not provably so.
 *
 * | what    | means                                                                          |
 * |---------|--------------------------------------------------------------------------------|
 * | `never` | no endpoint writes it: histories, call logs, ids, timestamps                    |
 * | `secret`| a secret or a sensitive value that nobody supplied, or that cannot be compared  |
 * | `file`  | it was made of a file whose bytes are not at hand                               |
 * | `part`  | a part that the platform does not take, such as a registration                  |
 * | `place` | its knowledge base or organization is not there                                 |
 * | `unread`| the snapshot does not hold it                                                   |
 * | `field` | a field that this version does not know how to write                            |
 */
export type Exception = {
  readonly what: 'never' | 'secret' | 'file' | 'part' | 'place' | 'unread' | 'field';
  /** Null for what is not about one resource. */
  readonly address: Address | null;
  readonly message: string;
};
