// Stands in for the system's header, so that bindings do not depend on the machine.
