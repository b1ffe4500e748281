import type { NamedBy } from './origin.ts';

/**
 * Where a stack keeps its state. Credentials are never a part of it: they come from the environment, and `by` says
 * who names the server that they would go to.
 */
export type StatePlace =
  | { readonly file: string }
  | { readonly http: HttpPlace; readonly by: NamedBy; readonly lock_by?: NamedBy }
  | { readonly postgres: PostgresPlace; readonly by: NamedBy }
  | { readonly s3: S3Place; readonly by: NamedBy };

/** A server that speaks the protocol of Terraform's `http` backend. */
export type HttpPlace = {
  readonly address: string;
  readonly lock_address?: string;
  readonly unlock_address?: string;
  readonly lock_method?: string;
  readonly unlock_method?: string;
  readonly update_method?: string;
  readonly username?: string;
};

export type PostgresPlace = {
  readonly url: string;
  /** One database keeps many stacks, each under a name. */
  readonly stack: string;
};

export type S3Place = {
  readonly bucket: string;
  readonly key: string;
  readonly region?: string;
  /** Of another service than Amazon's. */
  readonly endpoint?: string;
};
