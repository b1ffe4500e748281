/** Where a stack keeps its state. Credentials are never a part of it: they come from the environment. */
export type StatePlace =
  | { readonly file: string }
  | { readonly http: HttpPlace }
  | { readonly postgres: PostgresPlace }
  | { readonly s3: S3Place };

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
