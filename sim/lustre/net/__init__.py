"""Between clients and servers: LNET routers, and bulk under way."""
