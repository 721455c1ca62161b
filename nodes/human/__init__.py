"""What a person sends back at the choice of a plan, in every protocol that asks for it."""
