// The module that storefronts load.
export {};
